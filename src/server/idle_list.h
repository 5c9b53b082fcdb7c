// IdleList: connections in the order of their last activity, so that the idle ones stand in front.
// Moving one to the back is O(1) and needs no system call. Without an idle timeout it is empty.
#pragma once

#include "server/connection.h"
#include "xylem/core/list.h"
#include "xylem/core/time.h"

namespace xylem {

class IdleList {
 public:
  // A new connection.
  void add(Connection& connection, Time now) {
    connection.active_at = now;
    list_.push_back(connection);
  }
  void remove(Connection& connection) { list_.erase(connection); }
  void touch(Connection& connection, Time now) {
    remove(connection);
    add(connection, now);
  }

  // The one that has been quiet longest, if since `since` or before; else null.
  [[nodiscard]] Connection* quiet_since(Time since) const {
    Connection* front = list_.front();
    return front != nullptr && front->active_at <= since ? front : nullptr;
  }

 private:
  List<Connection, &Connection::idle_links> list_;
};

}  // namespace xylem
