// open, flock, lstat, connect, unlink. What is done with somebody else's file is decided by
// clear_path(): it may be removed only if it is a socket that nobody answers on.

#include "server/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace xylem {
namespace {

// A lock is held for less than a ms; who holds it longer does not mean us.
constexpr int kTries = 50;
constexpr std::chrono::milliseconds kBetweenTries{10};

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash + 1);
}

// Whether somebody listens on the socket file. When in doubt, somebody does.
bool is_live(const sockaddr_un& address) {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return true;
  const int status =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const bool refused = status != 0 && errno == ECONNREFUSED;
  close(descriptor);
  return !refused;
}

}  // namespace

FolderLock::FolderLock(const std::string& path)
    : descriptor_(open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) return;
  for (int i = 0; i < kTries && flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++i) {
    std::this_thread::sleep_for(kBetweenTries);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

const char* clear_path(const std::string& path, const sockaddr_un& address) {
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return nullptr;  // bind() says what else is wrong
  if (!S_ISSOCK(file.st_mode)) return "the file exists and is no socket";
  if (is_live(address)) return "another server is listening there";
  return unlink(path.c_str()) == 0 ? nullptr : std::strerror(errno);
}

bool is_still(const std::string& path, const struct stat& ours) {
  struct stat now {};
  return lstat(path.c_str(), &now) == 0 && now.st_dev == ours.st_dev && now.st_ino == ours.st_ino;
}

}  // namespace xylem
