// Time for the generator: the monotonic clock in whole nanoseconds, and the rule that every wait
// ends: sleep_for() and check_interrupted() give up as soon as the user has pressed Ctrl-C.
#pragma once

#include <time.h>

#include <chrono>

namespace xylem::load {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = std::chrono::nanoseconds;

/// From now on SIGINT and SIGTERM end the run at its next wait, and SIGPIPE is ignored.
void catch_signals();

/// Fails if SIGINT or SIGTERM has arrived.
void check_interrupted();

void sleep_for(Duration duration);

/// For moments too short to be interrupted; as late as the thread's timer slack.
void sleep_until(Time when);

inline timespec timespec_of(Duration duration) {
  return {.tv_sec = duration.count() / 1000000000, .tv_nsec = duration.count() % 1000000000};
}

inline double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

inline Duration from_seconds(double value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
}

}  // namespace xylem::load
