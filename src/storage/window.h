// Window: a file read from front to back in large pieces, seen as views of its bytes. SegmentReader
// looks through it; reading goes forward, with any jumps.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "xylem/result.h"
#include "xylem/storage/file.h"

namespace xylem {

class Window {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20;

  // Where the bytes stand. Who looks at many files lends the same to one window after another:
  // fresh memory costs more than what is read into it.
  struct Memory {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  explicit Window(File& file) : Window(file, own_memory_) {}
  // Both must outlive it.
  Window(File& file, Memory& memory) : file_(file), memory_(memory) {}
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Learns the file's size: bytes beyond it are never read. Must be called first. A file that is
  // cut meanwhile (the log gives back the unused end of a segment) ends where a read found it to
  // end.
  Result<std::uint64_t> measure();
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

  // The bytes at `at`: at least `least` of them, which is no more than kBytes, or all up to the end
  // of the file. Lives until the next call.
  Result<std::string_view> view(std::uint64_t at, std::size_t least) {
    if (at >= start_ && at + least <= start_ + held_) {
      return std::string_view(bytes() + (at - start_), held_ - (at - start_));
    }
    return refill(at);
  }
  // Fills `into`, from the file where the window ends; what view() returned lives on. The bytes
  // must be there.
  Result<Done> read(std::uint64_t at, std::span<char> into);

 private:
  [[nodiscard]] std::size_t room() const {
    return static_cast<std::size_t>(std::min<std::uint64_t>(kBytes, file_bytes_));
  }
  [[nodiscard]] char* bytes() { return memory_.bytes.get(); }
  Result<std::string_view> refill(std::uint64_t at);

  File& file_;
  Memory own_memory_;
  Memory& memory_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t start_ = 0;  // where in the file bytes() begins
  std::size_t held_ = 0;
};

}  // namespace xylem
