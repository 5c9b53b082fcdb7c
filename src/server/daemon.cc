// Start, reload and stop, in the order of the drawing in daemon.h. Whatever fails before the loop
// runs is an Error with the exit code that beanstalkd has for it; afterwards nothing ends the
// process but a signal.

#include "server/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "server/descriptors.h"
#include "server/systemd.h"
#include "server/user.h"
#include "xylem/check.h"

namespace xylem {
namespace {

// Whether all of IPv4 is listened to by an address of its own, at the same port.
bool has_ipv4_wildcard(const std::vector<ListenAddress>& all, const ListenAddress& address) {
  const auto* tcp = std::get_if<TcpAddress>(&address);
  if (tcp == nullptr) return false;
  return std::ranges::find(all, ListenAddress{TcpAddress{"0.0.0.0", tcp->port}}) != all.end();
}

// What a shell shows of a process that died by a signal: this plus the signal's number.
constexpr int kExitOfSignal = 128;

void close_all(const std::vector<ListenSocket>& sockets, Log& log) {
  for (const ListenSocket& socket : sockets) close_and_remove(socket, log);
}

// A long log is not read to its end for nobody.
void stop_if_told(const std::vector<ListenSocket>& sockets, Log& log) {
  if (!is_told_to_stop()) return;
  log.info("told to stop while the log is read: stopped");
  close_all(sockets, log);
  std::_Exit(0);
}

}  // namespace

Daemon::Daemon(Config config, int argc, const char* const* argv)
    : config_(std::move(config)),
      argc_(argc),
      argv_(argv),
      log_(make_log(config_)),
      signals_(*this) {}

int Daemon::run() {
  const auto ended = start_and_serve();
  if (ended) return 0;
  log_.error("{}", ended.error().text);
  return ended.error().exit_code;
}

Result<std::monostate> Daemon::start_and_serve() {
  log_.info("xylemd {} starts, pid {}", XYLEM_VERSION, getpid());
  for (const std::string& notice : config_.notices) log_.warn("{}", notice);
  Result<std::uint64_t> most_connections = raise_descriptor_limit();
  if (!most_connections) return most_connections.error();
  Result<std::vector<ListenSocket>> sockets = open_sockets();
  if (!sockets) return sockets.error();
  if (!config_.user.empty()) {
    if (auto became = become_user(config_.user); !became) {
      close_all(sockets.value(), log_);
      return became;
    }
  }
  Result<StartState> state =
      start_state(config_, log_, [&] { stop_if_told(sockets.value(), log_); });
  for (const ListenSocket& socket : sockets.value()) {
    if (!state) break;
    if (auto listening = start_listening(socket); !listening) state = listening.error();
  }
  if (!state) {
    close_all(sockets.value(), log_);
    return state.error();
  }
  serve(std::move(sockets).value(), std::move(state).value(), most_connections.value());
  return std::monostate{};
}

Result<std::vector<ListenSocket>> Daemon::open_sockets() {
  std::vector<ListenSocket> sockets;
  Result<std::vector<int>> passed = sockets_from_systemd();
  if (!passed) return passed.error();
  for (const int descriptor : passed.value()) sockets.push_back(adopt(descriptor));
  if (!sockets.empty()) {
    log_.info("took {} listening sockets from systemd; configured addresses are not used",
              sockets.size());
    return sockets;
  }
  for (const ListenAddress& address : config_.listen) {
    Result<ListenSocket> socket = bind_to(address, has_ipv4_wildcard(config_.listen, address));
    if (!socket) {
      close_all(sockets, log_);
      return socket.error();
    }
    sockets.push_back(std::move(socket).value());
  }
  return sockets;
}

void Daemon::serve(std::vector<ListenSocket> sockets, StartState state,
                   std::uint64_t most_connections) {
  CHECK(uv_loop_init(&loop_) == 0);
  signals_.start(loop_);
  server_.emplace(loop_, config_, std::move(state), most_connections, log_);
  server_->start();
  for (ListenSocket& socket : sockets) {
    listeners_.push_back(std::make_unique<Listener>(*server_, std::move(socket), log_));
    listeners_.back()->start(loop_);
  }
  notify_ready();
  uv_run(&loop_, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop_) == 0);
  log_.info("stopped");
}

void Daemon::on_signal(int number) {
  switch (number) {
    case SIGUSR1:
      server_->drain();
      log_.info("drain mode: put is refused from now on");
      return;
    case SIGHUP:
      return reload();
    default:
      return stop(number);
  }
}

void Daemon::stop(int number) {
  if (std::exchange(stopping_, true)) {
    log_.warn("told twice to stop: exit at once");
    for (const auto& listener : listeners_) close_and_remove(listener->socket(), log_);
    std::_Exit(kExitOfSignal + number);
  }
  log_.info("stopping: {} connections", server_->connection_count());
  notify_stopping();
  for (const auto& listener : listeners_) listener->shut();
  server_->finish_clients();
  patience_.data = stop_check_.data = this;
  CHECK(uv_timer_init(&loop_, &patience_) == 0);
  const auto on_out_of_patience = [](uv_timer_t* handle) {
    auto* daemon = static_cast<Daemon*>(handle->data);
    daemon->log_.warn("{} connections did not take their replies",
                      daemon->server_->connection_count());
    daemon->server_->close_clients();
  };
  using std::chrono::milliseconds;
  const auto patience = std::chrono::duration_cast<milliseconds>(limits::kStopPatience).count();
  uv_timer_start(&patience_, on_out_of_patience, static_cast<std::uint64_t>(patience), 0);
  CHECK(uv_check_init(&loop_, &stop_check_) == 0);
  const auto on_check = [](uv_check_t* handle) {
    static_cast<Daemon*>(handle->data)->on_turn_while_stopping();
  };
  uv_check_start(&stop_check_, on_check);
}

void Daemon::on_turn_while_stopping() {
  if (server_->connection_count() == 0 && server_->settle()) shut();
}

void Daemon::shut() {
  uv_close(reinterpret_cast<uv_handle_t*>(&patience_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&stop_check_), nullptr);
  signals_.shut();
  server_->shut();
}

// On an error everything stays as it is.
void Daemon::reload() {
  if (stopping_) return;
  notify_reloading();
  Result<Config> loaded = reload_config(argc_, argv_);
  if (loaded) {
    Config config = std::move(loaded).value();
    if (config.listen != config_.listen) log_.warn("reload: listen needs a restart");
    if (config.user != config_.user) log_.warn("reload: user needs a restart");
    if (config.log_directory != config_.log_directory) log_.warn("reload: log.dir needs a restart");
    if (config.log_segment_bytes != config_.log_segment_bytes) {
      log_.warn("reload: log.segment-size needs a restart");
    }
    xylem::configure(log_, config);
    server_->configure(config);
    log_.info("reloaded the configuration");
  } else {
    log_.error("reload: {}; nothing is changed", loaded.error().text);
  }
  notify_ready();
}

}  // namespace xylem
