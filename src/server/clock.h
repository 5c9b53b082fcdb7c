// TurnClock: where the engine's time comes from. It starts where start_state() says and goes on by
// CLOCK_BOOTTIME: it never goes back, counts a suspended machine's sleep, and does not notice when
// somebody sets the wall clock. A turn reads it when it begins (design: "The clock"), and again
// behind each read of a socket, for the commands that came with it.
#pragma once

#include <cstdint>
#include <ctime>

#include "xylem/core/time.h"

namespace xylem {

// One moment, in ticks. A tick of the engine runs at `floor`, a command is executed at `ceil`.
struct Moment {
  Time floor{};
  Time ceil{};
};

constexpr Moment moment_of(std::int64_t nanoseconds) {
  constexpr std::int64_t kTick = 1'000'000'000 / Clock::period::den;
  const std::int64_t whole = nanoseconds / kTick;
  const std::int64_t part = nanoseconds % kTick == 0 ? 0 : 1;
  return {.floor = Time(Duration(whole)), .ceil = Time(Duration(whole + part))};
}

// What the wall clock shows. For the start, and for the log, which remembers it.
Time wall_now();

class TurnClock {
 public:
  // The engine's time is `starts_at` now.
  explicit TurnClock(Time starts_at);

  [[nodiscard]] Moment read() const;
  // `time` on CLOCK_BOOTTIME, as timerfd wants it; at least 1 ns, since 0 disarms.
  [[nodiscard]] timespec on_boottime(Time time) const;

 private:
  std::int64_t offset_ns_;  // the engine's time less CLOCK_BOOTTIME
};

}  // namespace xylem
