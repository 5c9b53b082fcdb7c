// Reads of a binlog file: the window moves to what is asked for and is filled to its end. The size
// of the file is that at its opening; if it shrinks, views get shorter.
#include "storage/binlog_window.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace xylem::binlog {

Result<FileWindow> FileWindow::open(const std::string& path, std::size_t window_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    const std::string reason = std::generic_category().message(errno);
    return Error{fmt::format("{}: cannot be opened: {}", path, reason)};
  }
  return FileWindow(std::move(file), static_cast<std::uint64_t>(status.st_size), window_bytes);
}

FileWindow::FileWindow(Descriptor file, std::uint64_t size, std::size_t window_bytes)
    : file_(std::move(file)), size_(size), window_bytes_(window_bytes) {}

std::string_view FileWindow::view(std::uint64_t offset, std::size_t count) {
  if (offset >= size_) return {};
  count = static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - offset));
  const bool inside = offset >= begin_ && offset + count <= begin_ + filled_;
  if (!inside) fill(offset, count);
  const auto from = static_cast<std::size_t>(offset - begin_);
  return std::string_view(bytes_.data(), filled_).substr(from, count);
}

void FileWindow::fill(std::uint64_t offset, std::size_t count) {
  const std::size_t wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(std::max(count, window_bytes_), size_ - offset));
  if (bytes_.size() < wanted) bytes_.resize(wanted);
  begin_ = offset;
  filled_ = 0;
  while (filled_ < wanted) {
    const ssize_t got = ::pread(file_.get(), bytes_.data() + filled_, wanted - filled_,
                                static_cast<off_t>(offset + filled_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error_ = errno;
    if (got <= 0) return;
    filled_ += static_cast<std::size_t>(got);
  }
}

}  // namespace xylem::binlog
