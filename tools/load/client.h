// One blocking connection to a server: sends commands, waits for replies, in order. It sets servers
// up, and it drives the workloads that need one connection; many connections at once are swarm.h's
// work. Every wait for a reply ends after `patience`, with a failure that names the server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "address.h"
#include "clock.h"
#include "reply.h"

namespace xylem::load {

class Client {
 public:
  /// Fails if nobody listens at the address, which must outlive the client.
  explicit Client(const Address& address, Duration patience = std::chrono::seconds{120});

  void send(std::string_view bytes);

  /// The next reply; its word lives until the next call.
  Reply read();
  /// The next reply, which must have this word.
  Reply read(std::string_view word);
  /// Sends a command and returns its one reply, which must have this word.
  Reply call(std::string_view command, std::string_view word);

  /// The reply's body, for OK only.
  [[nodiscard]] const std::string& body() const { return parser_.body(); }

  /// Whether a reply has arrived, or does within this time.
  bool wait(Duration duration);

  /// Whether bytes have been read that no reply has used yet: poll on fd() does not show these.
  [[nodiscard]] bool has_unread() const { return !unread_.empty(); }

  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  void fill();

  const Address& address_;
  Duration patience_;
  Fd fd_;
  ReplyParser parser_{true};
  std::string buffer_;
  std::string_view unread_;  // into buffer_
};

/// Sends the commands 0 to `count` - 1 in batches of `depth`, one write each, and gives each reply
/// to `on_reply(index, reply)`. `append(index, out)` appends a command that has exactly one reply.
/// Stops between two batches once `end` is over; returns how many commands were answered.
template <typename Append, typename OnReply>
std::uint64_t pipeline(Client& client, std::uint64_t count, std::uint64_t depth, Time end,
                       Append append, OnReply on_reply) {
  std::string batch;
  std::uint64_t done = 0;
  while (done < count && Clock::now() < end) {
    const std::uint64_t until = std::min(count, done + depth);
    batch.clear();
    for (std::uint64_t index = done; index < until; ++index) append(index, batch);
    client.send(batch);
    for (; done < until; ++done) on_reply(done, client.read());
  }
  return done;
}

}  // namespace xylem::load
