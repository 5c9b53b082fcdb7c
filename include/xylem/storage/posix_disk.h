// The real disk beneath file.h, and the lock that keeps two servers off one directory.
//
// Files are made with mode 0600. A disk that cannot allocate gets zeros written instead. A
// directory that cannot be opened or locked is an error with exit code 10, as beanstalkd's are.
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

// A directory of files that nobody else uses.
struct OwnDirectory {
  std::unique_ptr<DirectoryLock> lock;
  std::unique_ptr<Directory> files;
};
// To read and write.
Result<OwnDirectory> open_locked(const std::string& path);
// To read the log of a server that does not run: one that runs changes it beneath our eyes, and
// holds the lock. A directory without a lock, or that may only be read, is somebody's copy.
// Nothing in it is changed. An error: there is no log in it.
Result<OwnDirectory> open_stopped(const std::string& path);

}  // namespace xylem
