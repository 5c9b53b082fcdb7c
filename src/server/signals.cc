// One uv_signal_t for each signal. libuv catches them in a handler and tells the loop by a pipe, so
// that on_signal() runs between other events, never inside of them.

#include "server/signals.h"

#include <csignal>
#include <cstddef>

#include "xylem/check.h"

namespace xylem {
namespace {

constexpr std::array kNumbers{SIGTERM, SIGINT, SIGHUP, SIGUSR1};

void change_mask(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kNumbers) sigaddset(&signals, number);
  CHECK(pthread_sigmask(how, &signals, nullptr) == 0);
}

}  // namespace

void hold_signals() { change_mask(SIG_BLOCK); }

void let_signals_go() { change_mask(SIG_UNBLOCK); }

bool is_told_to_stop() {
  sigset_t waiting;
  CHECK(sigpending(&waiting) == 0);
  return sigismember(&waiting, SIGTERM) == 1 || sigismember(&waiting, SIGINT) == 1;
}

Signals::Signals(SignalReceiver& receiver) : receiver_(receiver) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void Signals::start(uv_loop_t& loop) {
  const auto on_signal = [](uv_signal_t* handle, int number) {
    static_cast<Signals*>(handle->data)->receiver_.on_signal(number);
  };
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    CHECK(uv_signal_init(&loop, &handles_[i]) == 0);
    handles_[i].data = this;
    CHECK(uv_signal_start(&handles_[i], on_signal, kNumbers[i]) == 0);
  }
  let_signals_go();
}

void Signals::shut() {
  for (uv_signal_t& handle : handles_) uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
}

}  // namespace xylem
