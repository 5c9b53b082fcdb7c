// The files of unix sockets, and who owns them. A path belongs to whoever bound to it last, which
// the file's device and inode tell: they are not given again while the socket is open. A stale file
// is replaced; the file of a server that listens never is.
//
//     locked: nobody listens? remove; bind  -->  (the log is read)  -->  locked: still ours? listen
//
// A socket that is bound and does not listen yet cannot be told from a stale one. Another server
// may take its path, and then it must not listen: of two that start at once, one serves. The lock
// is flock(2) on the folder, so it needs no file of its own.
#pragma once

#include <sys/stat.h>
#include <sys/un.h>

#include <string>

namespace xylem {

// The folder of `path`, locked for as long as this lives. A folder that we may not read, or that
// somebody keeps locked, is not waited for: then two servers that start at once may both run.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

// With the folder locked: why the path cannot be ours, or null. A stale socket file is removed.
const char* clear_path(const std::string& path, const sockaddr_un& address);

// Whether the path still names the file that it named when `ours` was read.
bool is_still(const std::string& path, const struct stat& ours);

}  // namespace xylem
