// A disk that can be told to be slow, to fail, or to say what it was asked, and a wall clock that
// is wrong: a library that is loaded in front of libc (LD_PRELOAD). The environment names files;
// they are looked at at each call, so a test can make and remove them meanwhile.
//
//   XYLEM_SHIM_SLOW=FILE      fdatasync takes as many milliseconds longer as the file says
//   XYLEM_SHIM_FAIL=FILE      the call that it names, "fdatasync" or "pwritev", fails with EIO
//   XYLEM_SHIM_TRACE=FILE     gets a line for each write and sync, of which power_cut.py makes a
//                             power cut: "write OFFSET LENGTH PATH" before it; "begin PATH" before
//                             a sync, "end PATH" after it
//   XYLEM_SHIM_CLOCK=SECONDS  the wall clock is off by so much
//
// The log writes with pwritev and syncs with fdatasync (src/storage/posix_disk.cc). If that
// changes, this does nothing, and the tests that use it fail.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

namespace {

using Sync = int (*)(int);
using Clock = int (*)(clockid_t, timespec*);
using Write = ssize_t (*)(int, const iovec*, int, off_t);

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// What a trigger file says; empty if there is none.
std::string trigger(const char* variable) {
  const char* path = std::getenv(variable);
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[32];
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  return {text, static_cast<std::size_t>(length < 0 ? 0 : length)};
}

bool fails(const char* call) {
  if (trigger("XYLEM_SHIM_FAIL") != call) return false;
  errno = EIO;
  return true;
}

// One write() a line: threads do not mix theirs.
void tell(std::string line, int descriptor) {
  const char* trace = std::getenv("XYLEM_SHIM_TRACE");
  if (trace == nullptr) return;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  if (length < 0) return;
  line.append(" ").append(path, static_cast<std::size_t>(length)).append("\n");
  const int file = open(trace, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

}  // namespace

extern "C" int fdatasync(int descriptor) {
  static const auto real = next<Sync>("fdatasync");
  const std::string slow = trigger("XYLEM_SHIM_SLOW");
  if (!slow.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(std::stoi(slow)));
  if (fails("fdatasync")) return -1;
  tell("begin", descriptor);
  const int result = real(descriptor);
  if (result == 0) tell("end", descriptor);
  return result;
}

extern "C" ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
  static const auto real = next<Write>("pwritev");
  if (fails("pwritev")) return -1;
  std::size_t length = 0;
  for (int n = 0; n < count; ++n) length += parts[n].iov_len;
  tell("write " + std::to_string(offset) + " " + std::to_string(length), descriptor);
  return real(descriptor, parts, count, offset);
}

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = next<Clock>("clock_gettime");
  static const char* const off_by = std::getenv("XYLEM_SHIM_CLOCK");
  const int result = real(clock, time);
  if (off_by != nullptr && clock == CLOCK_REALTIME) time->tv_sec += std::stol(off_by);
  return result;
}
