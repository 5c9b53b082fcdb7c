// One uv_signal_t for each signal. libuv catches them in a handler and tells the loop by a pipe, so
// that on_signal() runs between other events, never inside of them.

#include "server/signals.h"

#include <csignal>
#include <cstddef>

#include "xylem/check.h"

namespace xylem {

void Signals::start(uv_loop_t& loop) {
  constexpr std::array kNumbers{SIGTERM, SIGINT, SIGHUP, SIGUSR1};
  std::signal(SIGPIPE, SIG_IGN);
  const auto on_signal = [](uv_signal_t* handle, int number) {
    static_cast<Signals*>(handle->data)->receiver_.on_signal(number);
  };
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    CHECK(uv_signal_init(&loop, &handles_[i]) == 0);
    handles_[i].data = this;
    CHECK(uv_signal_start(&handles_[i], on_signal, kNumbers[i]) == 0);
  }
}

void Signals::shut() {
  for (uv_signal_t& handle : handles_) uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
}

}  // namespace xylem
