// The monotonic clock and the signals. The flag that a signal sets is the only global of the
// program: a handler can reach nothing else.
#include "clock.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "failure.h"

namespace xylem::load {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_signal(int /*signal*/) { interrupted = 1; }

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void check_interrupted() {
  if (interrupted != 0) fail("interrupted");
}

void sleep_for(Duration duration) {
  const Time end = Clock::now() + duration;
  for (Time now = Clock::now(); now < end; now = Clock::now()) {
    check_interrupted();
    std::this_thread::sleep_for(std::min<Duration>(end - now, std::chrono::milliseconds{50}));
  }
}

void sleep_until(Time when) {
  const timespec then = timespec_of(when.time_since_epoch());
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, nullptr);
}

}  // namespace xylem::load
