// Reads in blocks and finds the ends in them; what was returned is dropped at the next read. A
// descriptor is polled before each read, since a read alone could not be interrupted.
#include "input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exit_codes.h"
#include "text.h"

namespace xylem::tool {
namespace {

constexpr std::size_t kBlock = 262'144;

Error cannot_read(std::string_view what, int error) {
  return {.text = fmt::format("cannot read {}: {}", what, std::strerror(error)),
          .exit_code = kInOut};
}

}  // namespace

Input::Input(int fd, char end, int interrupt_fd) : fd_(fd), end_(end), interrupt_fd_(interrupt_fd) {
  struct stat status {};
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  bytes_in_all_ = static_cast<std::uint64_t>(status.st_size);
}

Result<std::optional<std::string_view>> Input::next() {
  for (;;) {
    const std::size_t end = buffer_.find(end_, scanned_);
    if (end != std::string::npos) {
      const std::string_view record = std::string_view(buffer_).substr(at_, end - at_);
      at_ = scanned_ = end + 1;
      bytes_taken_ += record.size() + 1;
      return std::optional(record);
    }
    scanned_ = buffer_.size();
    if (ended_) break;
    Result<bool> more = read_more();
    if (!more) return more.error();
    ended_ = !more.value();
  }
  const std::string_view last = std::string_view(buffer_).substr(at_);
  at_ = buffer_.size();
  bytes_taken_ += last.size();
  return last.empty() ? std::optional<std::string_view>{} : std::optional(last);
}

bool Input::would_wait() const {
  if (ended_ || buffer_.find(end_, scanned_) != std::string::npos) return false;
  pollfd polled{fd_, POLLIN, 0};
  return poll(&polled, 1, 0) == 0;
}

std::optional<double> Input::part_taken() const {
  if (!bytes_in_all_) return std::nullopt;
  return static_cast<double>(bytes_taken_) / static_cast<double>(*bytes_in_all_);
}

Result<bool> Input::read_more() {
  pollfd polled[2] = {{fd_, POLLIN, 0}, {interrupt_fd_, POLLIN, 0}};
  while (poll(polled, 2, -1) < 0 && errno == EINTR) {
  }
  if (polled[1].revents != 0) return interrupted();
  buffer_.erase(0, at_);
  scanned_ -= at_;
  at_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  const ssize_t count = read(fd_, buffer_.data() + size, kBlock);
  const int error = errno;
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0 && error != EINTR) return cannot_read("standard input", error);
  return count != 0;
}

Result<std::string> read_all(int fd, int interrupt_fd) {
  std::string all;
  char block[65'536];
  for (;;) {
    pollfd polled[2] = {{fd, POLLIN, 0}, {interrupt_fd, POLLIN, 0}};
    while (poll(polled, 2, -1) < 0 && errno == EINTR) {
    }
    if (polled[1].revents != 0) return interrupted();
    const ssize_t count = read(fd, block, sizeof block);
    if (count == 0) return all;
    if (count < 0 && errno != EINTR) return cannot_read("the body", errno);
    if (count > 0) all.append(block, static_cast<std::size_t>(count));
  }
}

Result<std::string> read_file(const std::string& path) {
  if (path == "-") return read_all(STDIN_FILENO);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(escaped(path), errno);
  Result<std::string> body = read_all(fd);
  close(fd);
  return body;
}

}  // namespace xylem::tool
