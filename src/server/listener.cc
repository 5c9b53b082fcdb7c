// Accepts until there is nobody left, but not so many at a time that the clients that are there
// already would notice.

#include "server/listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "xylem/check.h"

namespace xylem {
namespace {

constexpr int kAcceptsPerTurn = 64;
constexpr std::uint64_t kPauseMs = 100;

}  // namespace

Listener::Listener(Server& server, ListenSocket socket, Log& log)
    : server_(server), socket_(std::move(socket)), log_(log) {}

void Listener::start(uv_loop_t& loop) {
  poll_.data = pause_.data = this;
  CHECK(uv_poll_init(&loop, &poll_, socket_.descriptor) == 0);
  CHECK(uv_timer_init(&loop, &pause_) == 0);
  watch();
  log_.info("listening on {}", socket_.name);
}

void Listener::shut() {
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&pause_), nullptr);
  close_and_remove(socket_, log_);
}

void Listener::watch() {
  const auto on_readable = [](uv_poll_t* handle, int, int) {
    static_cast<Listener*>(handle->data)->accept_some();
  };
  CHECK(uv_poll_start(&poll_, UV_READABLE, on_readable) == 0);
}

void Listener::accept_some() {
  server_.begin_turn();
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    const int client = accept4(socket_.descriptor, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
      server_.add_client(client);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != ECONNABORTED && errno != EINTR) {
      return pause(errno);
    }
  }
}

void Listener::pause(int error) {
  if (failures_.happened(server_.now()) > 0) {
    log_.warn("{}: clients have to wait: {}", socket_.name, std::strerror(error));
  }
  uv_poll_stop(&poll_);
  const auto on_over = [](uv_timer_t* handle) { static_cast<Listener*>(handle->data)->watch(); };
  uv_timer_start(&pause_, on_over, kPauseMs, 0);
}

}  // namespace xylem
