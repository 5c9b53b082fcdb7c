// uname, getrandom and getrusage. None of them can fail with the arguments that they are given
// here, so failures are CHECKed.

#include "server/process_info.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "xylem/check.h"

namespace xylem {
namespace {

std::string random_id() {
  std::uint64_t number = 0;
  CHECK(getrandom(&number, sizeof number, 0) == sizeof number);
  return fmt::format("{:016x}", number);
}

std::uint64_t microseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

}  // namespace

ProcessInfo::ProcessInfo() : id_(random_id()) {
  utsname name{};
  CHECK(uname(&name) == 0);
  hostname_ = name.nodename;
  os_ = name.version;
  platform_ = name.machine;
}

ProcessStats ProcessInfo::stats(std::uint64_t uptime_seconds) const {
  rusage usage{};
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  ProcessStats stats;
  stats.pid = getpid();
  stats.version = XYLEM_VERSION;
  stats.user_time_us = microseconds(usage.ru_utime);
  stats.system_time_us = microseconds(usage.ru_stime);
  stats.uptime_seconds = uptime_seconds;
  stats.id = id_;
  stats.hostname = hostname_;
  stats.os = os_;
  stats.platform = platform_;
  return stats;
}

}  // namespace xylem
