// Reads the two clocks of the process and does the arithmetic between them, in nanoseconds. Nothing
// else in the server asks what time it is.

#include "server/clock.h"

#include <algorithm>
#include <chrono>

#include "xylem/check.h"

namespace xylem {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t read_ns(clockid_t clock) {
  timespec time{};
  CHECK(clock_gettime(clock, &time) == 0);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Time wall_now() { return moment_of(read_ns(CLOCK_REALTIME)).floor; }

TurnClock::TurnClock(Time starts_at)
    : offset_ns_(std::chrono::duration_cast<std::chrono::nanoseconds>(starts_at.time_since_epoch())
                     .count() -
                 read_ns(CLOCK_BOOTTIME)) {}

Moment TurnClock::read() const { return moment_of(read_ns(CLOCK_BOOTTIME) + offset_ns_); }

timespec TurnClock::on_boottime(Time time) const {
  using std::chrono::nanoseconds;
  const std::int64_t ns =
      std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count() - offset_ns_;
  const std::int64_t positive = std::max<std::int64_t>(ns, 1);
  return {.tv_sec = positive / kSecond, .tv_nsec = positive % kSecond};
}

}  // namespace xylem
