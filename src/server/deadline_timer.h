// DeadlineTimer: wakes the loop when the engine's next deadline has come. A timerfd in a uv_poll_t,
// since a uv_timer has steps of 1 ms and a due job should not wait for one.
//
// It is armed again only if the deadline became earlier or the timer has fired: a deadline that
// went away costs one wake-up for nothing, instead of a system call for each command that moves it.
#pragma once

#include <uv.h>

#include "server/clock.h"

namespace xylem {

class Server;

class DeadlineTimer {
 public:
  DeadlineTimer(Server& server, const TurnClock& clock);
  DeadlineTimer(const DeadlineTimer&) = delete;
  DeadlineTimer& operator=(const DeadlineTimer&) = delete;

  // Starts watching on `loop`. Must be shut before it dies, and the loop run until it has closed.
  void start(uv_loop_t& loop);
  void shut();

  // Wakes the loop at `deadline` or before; kNever: need not wake it.
  void arm(Time deadline);

 private:
  void set(Time deadline);

  Server& server_;
  const TurnClock& clock_;
  uv_poll_t poll_{};
  int descriptor_ = -1;
  Time armed_for_ = kNever;
  bool fired_ = false;
};

}  // namespace xylem
