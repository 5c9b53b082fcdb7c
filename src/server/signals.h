// Signals: SIGTERM, SIGINT, SIGHUP and SIGUSR1 as events of the loop, delivered between turns to
// one receiver. SIGPIPE and SIGXFSZ are ignored: a write that is not possible is an error.
//
// They are held from the first moment of the process until the loop can take them, so that a signal
// during a start is neither deadly nor lost.
#pragma once

#include <uv.h>

#include <array>

namespace xylem {

// Holds the four signals: they wait until Signals::start(), or until they are let go, and then do
// what the system does by default. Threads that are made meanwhile never see them.
void hold_signals();
void let_signals_go();
// Whether one that is held says to stop.
bool is_told_to_stop();

class SignalReceiver {
 public:
  virtual void on_signal(int number) = 0;

 protected:
  ~SignalReceiver() = default;
};

class Signals {
 public:
  // From here on SIGPIPE and SIGXFSZ are ignored.
  explicit Signals(SignalReceiver& receiver);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Delivers from now on, first what was held. Must be shut before it dies, and the loop run until
  // the handles have closed.
  void start(uv_loop_t& loop);
  void shut();

 private:
  SignalReceiver& receiver_;
  std::array<uv_signal_t, 4> handles_{};
};

}  // namespace xylem
