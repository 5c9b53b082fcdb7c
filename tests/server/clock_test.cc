// The clock's rounding and its two ways: what it reads is the wall clock's time when it is made,
// and a time goes to CLOCK_BOOTTIME and back unharmed.

#include "server/clock.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>

namespace xylem {
namespace {

using std::chrono::nanoseconds;

std::int64_t ns(Time time) {
  return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t ns(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

TEST_CASE("a moment is rounded down for ticks and up for commands") {
  CHECK(moment_of(0).floor == Time(Duration(0)));
  CHECK(moment_of(0).ceil == Time(Duration(0)));
  CHECK(moment_of(1).floor == Time(Duration(0)));
  CHECK(moment_of(1).ceil == Time(Duration(1)));
  CHECK(moment_of(99'999).floor == Time(Duration(0)));
  CHECK(moment_of(100'000).floor == Time(Duration(1)));
  CHECK(moment_of(100'000).ceil == Time(Duration(1)));
  CHECK(moment_of(100'001).ceil == Time(Duration(2)));
}

TEST_CASE("it starts at the wall clock and never goes back") {
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const TurnClock clock(wall_now());
  Moment last = clock.read();
  CHECK(ns(last.floor) / 1'000'000'000 - ns(wall) / 1'000'000'000 <= 60);
  CHECK(ns(last.ceil) >= ns(wall) - 100'000);  // one tick
  for (int i = 0; i < 10'000; ++i) {
    const Moment next = clock.read();
    REQUIRE(next.floor >= last.floor);
    REQUIRE(next.ceil >= last.ceil);
    last = next;
  }
}

TEST_CASE("a deadline keeps its distance on CLOCK_BOOTTIME") {
  const TurnClock clock(wall_now());
  const Time now = clock.read().ceil;
  timespec boot{};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  const std::int64_t ahead = ns(clock.on_boottime(now + seconds(1'000))) - ns(boot);
  CHECK(ahead <= 1'000'100'000'000);
  CHECK(ahead > 900'000'000'000);
  CHECK(ns(clock.on_boottime(now + seconds(2))) - ns(clock.on_boottime(now + seconds(1))) ==
        1'000'000'000);
}

TEST_CASE("a deadline before the machine's start still arms a timer") {
  const TurnClock clock(wall_now());
  CHECK(ns(clock.on_boottime(Time(Duration(0)))) == 1);
}

}  // namespace
}  // namespace xylem
