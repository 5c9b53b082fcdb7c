// System calls, made whole: what is interrupted or done in part goes on, and an error says which
// file it was. Everything is relative to the directory's descriptor.
#include "xylem/storage/posix_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "xylem/storage/segment.h"

namespace xylem {
namespace {

// Of a directory that cannot be had, as beanstalkd.
constexpr int kNoDirectory = 10;
constexpr mode_t kMode = 0600;
constexpr std::string_view kLockName = "lock";

Error failed(std::string_view what, std::string_view path, int exit_code = 1) {
  const std::string why = std::generic_category().message(errno);
  return {fmt::format("cannot {} {}: {}", what, path, why), exit_code};
}

// A quota, or a limit on the size of files (ulimit -f), is as good as the end of the disk.
bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// Repeats a system call while signals interrupt it.
template <class Call>
auto whole(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// What is still to be written, as the system wants it: a few parts at a time, the first perhaps
// begun.
class Parts {
 public:
  explicit Parts(std::span<const std::string_view> parts) : parts_(parts) { skip_empty(); }

  [[nodiscard]] bool done() const { return parts_.empty(); }

  [[nodiscard]] std::span<const iovec> next() {
    std::size_t count = 0;
    for (const std::string_view part : parts_.first(std::min(parts_.size(), vector_.size()))) {
      const std::string_view left = count == 0 ? part.substr(begun_) : part;
      vector_[count++] = {const_cast<char*>(left.data()), left.size()};
    }
    return std::span(vector_).first(count);
  }

  void wrote(std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t step = std::min(bytes, parts_.front().size() - begun_);
      begun_ += step;
      bytes -= step;
      skip_empty();
    }
  }

 private:
  void skip_empty() {
    while (!parts_.empty() && begun_ == parts_.front().size()) {
      parts_ = parts_.subspan(1);
      begun_ = 0;
    }
  }

  std::span<const std::string_view> parts_;
  std::size_t begun_ = 0;
  std::array<iovec, 64> vector_{};
};

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string path) : file_(descriptor), path_(std::move(path)) {}

  Result<std::uint64_t> size() override {
    struct stat status {};
    if (fstat(file_.number(), &status) != 0) return failed("look at", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<std::size_t> read(std::uint64_t at, std::span<char> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t got = whole([&] {
        return pread(file_.number(), into.data() + done, into.size() - done,
                     static_cast<off_t>(at + done));
      });
      if (got < 0) return failed("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<Done> write(std::uint64_t at, std::span<const std::string_view> parts) override {
    if (write_all(at, parts)) return Done{};
    return failed("write", path_);
  }

  Result<Done> sync() override {
    if (whole([&] { return fdatasync(file_.number()); }) == 0) return Done{};
    return failed("sync", path_);
  }

  Result<bool> allocate(std::uint64_t bytes) override {
    if (whole([&] { return fallocate(file_.number(), 0, 0, static_cast<off_t>(bytes)); }) == 0) {
      return true;
    }
    if (errno == EOPNOTSUPP || errno == ENOSYS) return append_zeros(bytes);
    if (is_full(errno)) return false;
    return failed("allocate", path_);
  }

  Result<Done> truncate(std::uint64_t bytes) override {
    if (whole([&] { return ftruncate(file_.number(), static_cast<off_t>(bytes)); }) == 0) {
      return Done{};
    }
    return failed("cut", path_);
  }

 private:
  // False: errno says why.
  bool write_all(std::uint64_t at, std::span<const std::string_view> parts) {
    Parts left(parts);
    while (!left.done()) {
      const std::span<const iovec> next = left.next();
      const ssize_t wrote = whole([&] {
        return pwritev(file_.number(), next.data(), static_cast<int>(next.size()),
                       static_cast<off_t>(at));
      });
      if (wrote < 0) return false;
      at += static_cast<std::uint64_t>(wrote);
      left.wrote(static_cast<std::size_t>(wrote));
    }
    return true;
  }

  Result<bool> append_zeros(std::uint64_t bytes) {
    const std::string zeros(std::size_t{1} << 20, '\0');
    Result<std::uint64_t> at = size();
    if (!at) return at.error();
    while (at.value() < bytes) {
      const std::string_view part =
          std::string_view(zeros).substr(0, static_cast<std::size_t>(bytes - at.value()));
      if (!write_all(at.value(), {&part, 1})) {
        if (is_full(errno)) return false;
        return failed("allocate", path_);
      }
      at.value() += part.size();
    }
    return true;
  }

  Descriptor file_;
  std::string path_;
};

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(int descriptor, std::string path, Access access)
      : directory_(descriptor), path_(std::move(path)), access_(access) {}

  [[nodiscard]] std::string path_of(std::string_view name) const override {
    return fmt::format("{}/{}", path_, name);
  }

  Result<std::vector<std::string>> list() override {
    const int descriptor = openat(directory_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return failed("list", path_);
    DIR* stream = fdopendir(descriptor);
    if (stream == nullptr) return failed("list", path_);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(stream)) {
      if (is_regular(entry->d_name)) names.emplace_back(entry->d_name);
      errno = 0;
    }
    const int error = errno;
    closedir(stream);
    errno = error;
    if (error != 0) return failed("list", path_);
    return names;
  }

  Result<std::unique_ptr<File>> open(std::string_view name) override {
    const int descriptor = open_file(name, access_ == Access::kRead ? O_RDONLY : O_RDWR);
    if (descriptor < 0) return failed("open", path_of(name));
    return file(descriptor, name);
  }

  Result<std::unique_ptr<File>> create(std::string_view name) override {
    const int descriptor = open_file(name, O_RDWR | O_CREAT | O_EXCL);
    if (descriptor < 0 && is_full(errno)) return std::unique_ptr<File>();
    if (descriptor < 0) return failed("create", path_of(name));
    return file(descriptor, name);
  }

  Result<Done> rename(std::string_view from, std::string_view to) override {
    const std::string old_name(from);
    const std::string new_name(to);
    if (renameat(directory_.number(), old_name.c_str(), directory_.number(), new_name.c_str()) ==
        0) {
      return Done{};
    }
    return failed("rename", path_of(from));
  }

  Result<Done> remove(std::string_view name) override {
    if (unlinkat(directory_.number(), std::string(name).c_str(), 0) == 0) return Done{};
    return failed("remove", path_of(name));
  }

  Result<Done> sync() override {
    // EINVAL: the file system has no such thing.
    if (whole([&] { return fsync(directory_.number()); }) == 0 || errno == EINVAL) return Done{};
    return failed("sync", path_);
  }

 private:
  bool is_regular(const char* name) {
    struct stat status {};
    return fstatat(directory_.number(), name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode);
  }

  // Less than 0: errno says why.
  int open_file(std::string_view name, int flags) {
    const std::string text(name);
    return whole(
        [&] { return openat(directory_.number(), text.c_str(), flags | O_CLOEXEC, kMode); });
  }

  std::unique_ptr<File> file(int descriptor, std::string_view name) {
    return std::make_unique<PosixFile>(descriptor, path_of(name));
  }

  Descriptor directory_;
  std::string path_;
  Access access_;
};

}  // namespace

Result<std::unique_ptr<Directory>> open_directory(const std::string& path, Access access) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed("open", path, kNoDirectory);
  return std::unique_ptr<Directory>(new PosixDirectory(descriptor, path, access));
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<DirectoryLock> lock_directory(const std::string& path) {
  const std::string name = fmt::format("{}/{}", path, kLockName);
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  if (descriptor < 0) return failed("open", name, kNoDirectory);
  DirectoryLock lock(descriptor);
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  whole_file.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_SETLK, &whole_file) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return failed("lock", name, kNoDirectory);
  return Error{fmt::format("{} is in use by another server (it holds {})", path, name),
               kNoDirectory};
}

Result<OwnDirectory> open_locked(const std::string& path) {
  auto lock = lock_directory(path);
  if (!lock) return lock.error();
  auto directory = open_directory(path, Access::kWrite);
  if (!directory) return directory.error();
  return OwnDirectory{std::make_unique<DirectoryLock>(std::move(lock).value()),
                      std::move(directory).value()};
}

Result<OwnDirectory> open_stopped(const std::string& path) {
  auto directory = open_directory(path, Access::kRead);
  if (!directory) return directory.error();
  auto names = directory.value()->list();
  if (!names) return names.error();
  const bool was_locked = std::ranges::find(names.value(), kLockName) != names.value().end();
  const auto is_segment = [](const auto& name) { return segment_number(name).has_value(); };
  if (!was_locked && std::ranges::none_of(names.value(), is_segment)) {
    return Error{fmt::format("{} holds no log", path), kNoDirectory};
  }
  OwnDirectory own{nullptr, std::move(directory).value()};
  if (!was_locked) return own;
  auto lock = lock_directory(path);
  if (!lock && access(path.c_str(), W_OK) == 0) return lock.error();
  if (lock) own.lock = std::make_unique<DirectoryLock>(std::move(lock).value());
  return own;
}

}  // namespace xylem
