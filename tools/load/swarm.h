// Many connections at once, on one epoll loop. Each connection goes round by itself:
//
//   Script::next --> one write of a batch of commands --> all its replies --> Script::next --> ...
//
// A batch is the pipeline: `depth` commands in one write. Each reply's latency is the time from
// that write to the read that brought the reply. The same loop drives every server; it spends a few
// hundred nanoseconds a batch and some tens a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "address.h"
#include "clock.h"
#include "histogram.h"
#include "reply.h"

namespace xylem::load {

struct Batch {
  std::string_view bytes;         // must live until the last reply of the batch
  std::uint64_t reply_count = 0;  // 0: the connection is done
};

/// What the connections of a swarm do.
class Script {
 public:
  Script() = default;
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  virtual ~Script() = default;

  /// What this connection sends next.
  virtual Batch next(std::size_t connection, Time now) = 0;
  /// One reply, in order. Fails if it is not what the script expects.
  virtual void on_reply(std::size_t connection, const Reply& reply) = 0;
};

struct Tally {
  std::uint64_t replies = 0;
  Duration elapsed{};
  Histogram latency;  // nanoseconds
};

class Swarm {
 public:
  Swarm(const Address& address, std::size_t connection_count);

  [[nodiscard]] std::size_t size() const { return connections_.size(); }

  /// Sends this on every connection and waits for `reply_count` replies to each, of any word.
  void greet(std::string_view commands, std::uint64_t reply_count);

  /// Runs the script on all connections until each is done. Fails if nothing arrives for
  /// `patience`.
  Tally run(Script& script, Duration patience = std::chrono::seconds{120});

 private:
  struct Connection {
    explicit Connection(Fd socket) : fd(std::move(socket)) {}

    Fd fd;
    ReplyParser parser;
    std::string_view unsent;
    std::uint64_t replies_left = 0;
    Time sent_at{};
    bool awaits_room = false;  // whether epoll reports room for `unsent`
  };

  void start_batch(std::size_t index, Script& script, Time now);
  void send_rest(std::size_t index);
  void receive(std::size_t index, Script& script, Tally& tally);
  void watch(std::size_t index, int operation, bool room);

  const Address& address_;
  Fd epoll_;
  std::vector<Connection> connections_;
  std::vector<char> buffer_;
  std::size_t active_ = 0;
};

}  // namespace xylem::load
