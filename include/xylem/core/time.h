// Time in the core is a number that somebody else read. Clock has no now(), so core code that asks
// for the time does not compile. One tick is 0.1 ms: fine enough that a due job is on time, coarse
// enough that the longest delay (U32MAX seconds) spans eight levels of a 64-slot timer wheel.
//
// Rounding keeps a timer from firing early: a command is executed at the time rounded up, so that a
// deadline is "now, rounded up, plus the delay"; a tick runs at the time rounded down.
#pragma once

#include <chrono>
#include <cstdint>

namespace xylem {

struct Clock {
  using rep = std::int64_t;
  using period = std::ratio<1, 10'000>;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
};

using Time = Clock::time_point;
using Duration = Clock::duration;

// Later than any deadline; "no deadline".
inline constexpr Time kNever = Time::max();

// The protocol counts delays, ttrs and timeouts in whole seconds.
constexpr Duration seconds(std::uint32_t count) {
  return std::chrono::duration_cast<Duration>(std::chrono::seconds(count));
}

// Whole seconds in `span`, towards zero; statistics show these.
constexpr std::int64_t whole_seconds(Duration span) {
  return std::chrono::duration_cast<std::chrono::seconds>(span).count();
}

}  // namespace xylem
