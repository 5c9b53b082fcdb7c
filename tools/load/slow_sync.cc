// A disk on which every sync takes long: a library that is loaded in front of a server's libc
// (LD_PRELOAD, by --slow-sync). fdatasync and fsync sleep as many milliseconds as XYLEM_SLOW_SYNC
// says, then sync. A server that syncs in another way (O_DSYNC, sync_file_range) is not slowed.
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

using Sync = int (*)(int);

int sync_slowly(const char* name, int descriptor) {
  const char* text = std::getenv("XYLEM_SLOW_SYNC");
  std::this_thread::sleep_for(std::chrono::milliseconds(text == nullptr ? 0 : std::atoi(text)));
  return reinterpret_cast<Sync>(dlsym(RTLD_NEXT, name))(descriptor);
}

}  // namespace

extern "C" int fdatasync(int descriptor) { return sync_slowly("fdatasync", descriptor); }

extern "C" int fsync(int descriptor) { return sync_slowly("fsync", descriptor); }
