// The real disk beneath file.h, and the lock that keeps two servers off one directory.
//
// Files are made with mode 0600. A disk that cannot allocate gets zeros written instead. Errors
// here end a start with exit code 10, as beanstalkd's do.
#pragma once

#include <memory>
#include <string>

#include "xylem/result.h"
#include "xylem/storage/file.h"

namespace xylem {

enum class Access { kRead, kWrite };

// The directory must exist. For kRead, a call that would change something is an error.
Result<std::unique_ptr<Directory>> open_directory(const std::string& path, Access access);

// Held while it lives, by this process: a POSIX lock on the file "lock" of the directory, which
// beanstalkd also takes. The file stays when the lock goes.
class DirectoryLock {
 public:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  int descriptor_;
};

Result<DirectoryLock> lock_directory(const std::string& path);

}  // namespace xylem
