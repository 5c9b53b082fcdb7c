// The timerfd. When it has fired it is not read: setting it anew, which follows at the end of the
// turn, makes it unreadable too, and saves the system call.

#include "server/deadline_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "server/server.h"
#include "xylem/check.h"

namespace xylem {

DeadlineTimer::DeadlineTimer(Server& server, const TurnClock& clock)
    : server_(server), clock_(clock) {}

void DeadlineTimer::start(uv_loop_t& loop) {
  descriptor_ = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  CHECK(descriptor_ >= 0);
  CHECK(uv_poll_init(&loop, &poll_, descriptor_) == 0);
  poll_.data = this;
  const auto on_fired = [](uv_poll_t* handle, int, int) {
    auto* timer = static_cast<DeadlineTimer*>(handle->data);
    timer->fired_ = true;
    timer->server_.begin_turn();
  };
  CHECK(uv_poll_start(&poll_, UV_READABLE, on_fired) == 0);
}

void DeadlineTimer::shut() {
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  close(descriptor_);
}

void DeadlineTimer::arm(Time deadline) {
  if (fired_ || deadline < armed_for_) set(deadline);
}

void DeadlineTimer::set(Time deadline) {
  itimerspec when{};
  if (deadline != kNever) when.it_value = clock_.on_boottime(deadline);
  CHECK(timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &when, nullptr) == 0);
  armed_for_ = deadline;
  fired_ = false;
}

}  // namespace xylem
