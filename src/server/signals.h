// Signals: SIGTERM, SIGINT, SIGHUP and SIGUSR1 as events of the loop, delivered between turns to
// one receiver. SIGPIPE is ignored: a write to a closed socket is an error like any other.
#pragma once

#include <uv.h>

#include <array>

namespace xylem {

class SignalReceiver {
 public:
  virtual void on_signal(int number) = 0;

 protected:
  ~SignalReceiver() = default;
};

class Signals {
 public:
  explicit Signals(SignalReceiver& receiver) : receiver_(receiver) {}
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Must be shut before it dies, and the loop run until the handles have closed.
  void start(uv_loop_t& loop);
  void shut();

 private:
  SignalReceiver& receiver_;
  std::array<uv_signal_t, 4> handles_{};
};

}  // namespace xylem
