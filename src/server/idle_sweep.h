// IdleSweep: the idle timeout. It keeps the connections in the order of their last activity and
// looks once a second at those in front: who has neither said nor read anything for too long, and
// does not wait for the server, is closed. Moving a connection to the back is O(1) and needs no
// system call.
//
// Without a timeout, which is the default, it knows no connections and sets no timer.
#pragma once

#include <uv.h>

#include <cstdint>
#include <span>

#include "server/connection.h"
#include "server/log.h"
#include "xylem/core/list.h"
#include "xylem/core/time.h"

namespace xylem {

class IdleSweep {
 public:
  IdleSweep(Server& server, uv_loop_t& loop, Log& log);
  IdleSweep(const IdleSweep&) = delete;
  IdleSweep& operator=(const IdleSweep&) = delete;

  // `connections`: all that there are, and nulls. 0: never.
  void set_timeout(std::uint32_t seconds, std::span<Connection* const> connections, Time now);

  // A connection came, goes, or has said or read something.
  void add(Connection& connection, Time now) {
    if (seconds_ > 0) append(connection, now);
  }
  void remove(Connection& connection) {
    if (seconds_ > 0) quietest_.erase(connection);
  }
  void touch(Connection& connection, Time now) {
    remove(connection);
    add(connection, now);
  }

  // Its handle must close before it dies.
  void shut();

 private:
  void append(Connection& connection, Time now) {
    connection.active_at = now;
    quietest_.push_back(connection);
  }
  void sweep();

  Server& server_;
  Log& log_;
  uv_timer_t timer_{};
  std::uint32_t seconds_ = 0;
  List<Connection, &Connection::idle_links> quietest_;  // comes first
};

}  // namespace xylem
