// Input: records from a descriptor, ended by a byte of choice (the last one may lack it). It says
// when the next record would have to be waited for, so that what was read so far can be dealt with
// first; and a wait ends when `interrupt_fd` becomes readable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xylem/result.h"

namespace xylem::tool {

class Input {
 public:
  // The descriptors are the caller's.
  Input(int fd, char end, int interrupt_fd);

  // The next record, without its end; the view lives until the next call. Empty at the end.
  Result<std::optional<std::string_view>> next();
  // Whether next() would have to wait for somebody.
  [[nodiscard]] bool would_wait() const;

  // The part that was taken of the whole, from 0 to 1, if the whole can be known.
  [[nodiscard]] std::optional<double> part_taken() const;

 private:
  Result<bool> read_more();

  int fd_;
  char end_;
  int interrupt_fd_;
  std::string buffer_;
  std::size_t at_ = 0;       // what stands before was returned
  std::size_t scanned_ = 0;  // from at_ to here there is no end
  bool ended_ = false;
  std::optional<std::uint64_t> bytes_in_all_;  // if that can be known
  std::uint64_t bytes_taken_ = 0;
};

// All of a descriptor.
Result<std::string> read_all(int fd, int interrupt_fd = -1);
// "-" is standard input.
Result<std::string> read_file(const std::string& path);

}  // namespace xylem::tool
