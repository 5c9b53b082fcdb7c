// Listener: accepts the clients of one listening socket and hands them to the server.
//
// When the system has no descriptor or memory left for a client, the client stays in the backlog
// and the listener pauses: the socket stays readable all the while, and polling it would be a busy
// loop.
#pragma once

#include <uv.h>

#include "server/listen_socket.h"
#include "server/log.h"
#include "server/seldom.h"
#include "server/server.h"

namespace xylem {

class Listener {
 public:
  Listener(Server& server, ListenSocket socket, Log& log);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void start(uv_loop_t& loop);
  // Listens no more. Must be called before it dies, and the loop run until the handles have closed.
  void shut();
  [[nodiscard]] const ListenSocket& socket() const { return socket_; }

 private:
  void watch();
  void accept_some();
  void pause(int error);

  Server& server_;
  ListenSocket socket_;
  Log& log_;
  uv_poll_t poll_{};
  uv_timer_t pause_{};
  Seldom failures_;
};

}  // namespace xylem
