// Daemon: the life of the process around the server: sockets, user, signals, systemd, reload, stop.
//
//     bind --> become user --> read the log --> listen, serve ...... SIGUSR1: drain, SIGHUP: reload
//                                                 |  SIGTERM, SIGINT
//                                                 v
//                no new clients or commands, replies leave --> all closed, or patience ends
//                                  |  a second one                       v
//                                  +--> exit at once        the log is synced --> exit 0
//
// A signal that comes before the server serves is held until it does (signals.h); one to stop also
// ends the reading of a long log.
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "server/listener.h"
#include "server/log.h"
#include "server/server.h"
#include "server/signals.h"
#include "xylem/config.h"
#include "xylem/result.h"

namespace xylem {

class Daemon final : private SignalReceiver {
 public:
  // The command line is kept for SIGHUP.
  Daemon(Config config, int argc, const char* const* argv);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  // Serves until it is told to stop. The exit code; if it could not begin, the log says why.
  int run();

 private:
  Result<std::monostate> start_and_serve();
  Result<std::vector<ListenSocket>> open_sockets();
  void serve(std::vector<ListenSocket> sockets, StartState state, std::uint64_t most_connections);
  void on_signal(int number) override;
  void stop(int number);
  void on_turn_while_stopping();
  void reload();
  void shut();

  Config config_;
  int argc_;
  const char* const* argv_;
  Log log_;
  uv_loop_t loop_{};
  std::optional<Server> server_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  Signals signals_;
  uv_timer_t patience_{};
  uv_check_t stop_check_{};
  bool stopping_ = false;
};

}  // namespace xylem
