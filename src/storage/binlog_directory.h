// The directory of a beanstalkd's binlogs: which files are in it, and that no server uses it.
// Everything is opened for reading only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "xylem/result.h"

namespace xylem::binlog {

// A file descriptor that is closed with its owner; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

// Shares the lock of `directory`, so that no beanstalkd can start there while the result lives. If
// there is no file `lock` there is nothing to share: the directory is a copy. An error if the lock
// is held.
Result<Descriptor> share_lock(const std::string& directory);

// The numbers N of the files binlog.N, ascending. At least one, or an error.
Result<std::vector<std::uint64_t>> binlog_numbers(const std::string& directory);

std::string binlog_name(std::uint64_t number);

}  // namespace xylem::binlog
