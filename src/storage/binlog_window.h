// A binlog file, read through a window: any bytes by their offset, with large reads where they
// follow each other. Not mapped into memory, because a disk that fails to give a page would then
// end the process instead of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/binlog_directory.h"
#include "xylem/result.h"

namespace xylem::binlog {

inline constexpr std::size_t kWindowBytes = 1'048'576;

class FileWindow {
 public:
  static Result<FileWindow> open(const std::string& path, std::size_t window_bytes = kWindowBytes);

  // The bytes at `offset`: `count`, or as many as there are. Valid until the next call. The window
  // grows if `count` is larger.
  [[nodiscard]] std::string_view view(std::uint64_t offset, std::size_t count);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  // The errno of a read that failed, or 0. After it, view() may give too little.
  [[nodiscard]] int error() const { return error_; }

 private:
  FileWindow(Descriptor file, std::uint64_t size, std::size_t window_bytes);
  void fill(std::uint64_t offset, std::size_t count);

  Descriptor file_;
  std::uint64_t size_;
  std::size_t window_bytes_;
  std::vector<char> bytes_;
  std::uint64_t begin_ = 0;  // of the window in the file
  std::size_t filled_ = 0;
  int error_ = 0;
};

}  // namespace xylem::binlog
