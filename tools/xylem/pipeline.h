// Pipeline: keeps a connection busy. Commands go out in large batches and replies are taken while
// the server works on the rest; `on_reply` hears each reply in the order of the commands. At most
// kWindow commands and kBytes are under way.
//
//   Pipeline pipeline(connection, [](Reply&& reply) { ... });
//   for (...) { connection.send(...); if (auto done = pipeline.went(); !done) return done.error();
//   } if (auto done = pipeline.drain(); !done) return done.error();
#pragma once

#include <utility>

#include "xylem/client.h"

namespace xylem::tool {

template <class OnReply>
class Pipeline {
 public:
  Pipeline(client::Connection& connection, OnReply on_reply)
      : connection_(connection), on_reply_(std::move(on_reply)) {}

  // After each command: if the window is full, makes room for half of it.
  Result<std::monostate> went() {
    if (connection_.queued_bytes() > kBytes) return receive_down_to(0);
    if (connection_.owed() < kWindow) return std::monostate{};
    return receive_down_to(kWindow / 2);
  }
  // Waits for every reply.
  Result<std::monostate> drain() { return receive_down_to(0); }

 private:
  static constexpr std::size_t kWindow = 2'048;
  static constexpr std::size_t kBytes = 4 << 20;

  Result<std::monostate> receive_down_to(std::size_t owed) {
    while (connection_.owed() > owed) {
      Result<client::Reply> reply = connection_.receive();
      if (!reply) return reply.error();
      on_reply_(std::move(reply).value());
    }
    return std::monostate{};
  }

  client::Connection& connection_;
  OnReply on_reply_;
};

}  // namespace xylem::tool
