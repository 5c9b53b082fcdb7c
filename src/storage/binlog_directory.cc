// beanstalkd holds a POSIX write lock on DIR/lock for its life. A read lock needs no right to write
// and conflicts with it; as a lock of the open file (OFD) it is not lost when somebody else in this
// process closes the same file.
#include "storage/binlog_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace xylem::binlog {
namespace {

constexpr std::string_view kPrefix = "binlog.";

std::string reason() { return std::generic_category().message(errno); }

struct flock read_lock() {
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Error in_use(const std::string& directory, int fd) {
  struct flock holder = read_lock();
  const bool known = ::fcntl(fd, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
  const std::string who =
      known && holder.l_pid > 0 ? fmt::format("process {}", holder.l_pid) : "another process";
  return Error{fmt::format("{}: is in use by {}: stop beanstalkd first", directory, who)};
}

// Only names as beanstalkd makes them: no sign, no leading zero.
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || name != binlog_name(number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Descriptor> share_lock(const std::string& directory) {
  const std::string path = directory + "/lock";
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 && errno == ENOENT) return Descriptor();
  if (file.get() < 0) return Error{fmt::format("{}: cannot be opened: {}", path, reason())};
  struct flock lock = read_lock();
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return file;
  if (errno == EAGAIN || errno == EACCES) return in_use(directory, file.get());
  return Error{fmt::format("{}: cannot be locked: {}", path, reason())};
}

Result<std::vector<std::uint64_t>> binlog_numbers(const std::string& directory) {
  namespace fs = std::filesystem;
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  std::error_code not_regular;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = number_of(entry->path().filename().native());
    if (number && entry->is_regular_file(not_regular)) numbers.push_back(*number);
  }
  if (error) return Error{fmt::format("{}: cannot be read: {}", directory, error.message())};
  if (numbers.empty()) return Error{fmt::format("{}: has no binlog.N to import", directory)};
  std::ranges::sort(numbers);
  return numbers;
}

std::string binlog_name(std::uint64_t number) { return fmt::format("{}{}", kPrefix, number); }

}  // namespace xylem::binlog
