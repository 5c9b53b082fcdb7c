// The client library: one blocking connection to a server that speaks the beanstalk protocol.
//
//   auto connection =
//   xylem::client::Connection::connect(xylem::client::parse_address("db:11300").value()); auto put
//   = connection.value().put("hello", {.ttr = 120}); if (!put) complain(put.error().text); // the
//   world failed else if (!put.value().is("INSERTED")) ...          // the server said something
//   else
//
// Two kinds of failure, kept apart: what the server answers is a Reply, whatever it says; what the
// world does (nobody listens, the stream breaks, time runs out, what answers is no such server) is
// an Error, whose text is one sentence that names the server. After an Error the connection is of
// no more use, but for kInterrupted before anything was lost.
//
// Pipelining is plain: send() and send_put() only queue, receive() writes what is queued and
// returns the next reply, in order. While it writes it reads, so no amount of pipelining can block
// both ends for ever; but queued bytes and unread replies stand in memory, so look at owed().
//
// Nothing here starts a thread, installs a signal handler or raises SIGPIPE.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "xylem/client/yaml.h"
#include "xylem/core/ids.h"
#include "xylem/result.h"

namespace xylem::client {

// Error::exit_code of this library's errors.
inline constexpr int kUnreachable = 3;    // nobody there, connection lost, no beanstalk server
inline constexpr int kInterrupted = 130;  // Options::interrupt_fd became readable

struct Address {
  std::string host = "127.0.0.1";
  std::string port = "11300";
  std::string path = {};  // of a unix socket; if not empty, host and port are not used
};

// "HOST", "HOST:PORT", "[V6]", "[V6]:PORT", a bare IPv6 address, or "unix:PATH".
Result<Address> parse_address(std::string_view text);
std::string to_string(const Address& address);

struct Options {
  std::chrono::milliseconds connect_timeout{5'000};
  // How long to wait for a reply while no byte arrives or leaves.
  std::chrono::milliseconds reply_timeout{30'000};
  // When this becomes readable every wait ends with kInterrupted; -1 for none. The caller's.
  int interrupt_fd = -1;
};

struct Reply {
  std::string word = {};      // "RESERVED"
  std::string argument = {};  // what follows the word in its line: "17 100"
  std::string body = {};      // of RESERVED, FOUND and OK

  [[nodiscard]] bool is(std::string_view expected) const { return word == expected; }
  // The first number of the argument; 0 if there is none.
  [[nodiscard]] std::uint64_t number() const;
  // The line as it came, without CRLF.
  [[nodiscard]] std::string line() const;
};

struct Put {
  std::uint32_t pri = 1'024;
  std::uint32_t delay = 0;  // seconds
  std::uint32_t ttr = 60;   // seconds
};

class Connection {
 public:
  static Result<Connection> connect(const Address& address, const Options& options = {});

  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // One command and its reply. `line` comes without CRLF; with a line end inside, the server
  // refuses it as BAD_FORMAT. For the command that carries a body there is put(). Replies to what
  // was sent before must have been received.
  Result<Reply> ask(std::string_view line);
  Result<Reply> put(std::string_view body, const Put& put = {});
  // RESERVED, TIMED_OUT or DEADLINE_SOON; without a timeout it waits as long as it takes.
  Result<Reply> reserve(std::optional<std::chrono::seconds> timeout = std::nullopt);

  // Queues a command; nothing is written before receive(), receive_now() or flush().
  void send(std::string_view line);
  void send_put(std::string_view body, const Put& put = {});
  // How many replies are still to be received, and bytes to be written.
  [[nodiscard]] std::size_t owed() const { return owed_; }
  [[nodiscard]] std::size_t queued_bytes() const { return out_.size() - out_at_; }
  // Writes all that is queued.
  Result<std::monostate> flush();
  // The next reply. `patience` replaces reply_timeout; zero waits for ever.
  Result<Reply> receive(std::optional<std::chrono::milliseconds> patience = std::nullopt);

  // For a poll loop over several connections: poll fd() for reading, then take replies until there
  // is none. Never waits for the server to speak.
  Result<std::optional<Reply>> receive_now();
  [[nodiscard]] int fd() const { return fd_; }

  // Says that no more commands come: a waiting reserve is answered at once, and after the replies
  // that are owed the stream ends.
  void half_close();

  [[nodiscard]] const Address& address() const { return address_; }

 private:
  Connection(int fd, Address address, const Options& options);

  enum class Wait : std::uint8_t { kReady, kTimedOut, kStopped };
  Wait wait(short events, std::chrono::milliseconds patience) const;
  Result<bool> write_some();
  Result<bool> read_some();
  Result<std::optional<Reply>> take_reply();
  Result<std::monostate> exchange(short events, std::chrono::milliseconds patience);
  [[nodiscard]] Error broken(int error) const;
  [[nodiscard]] Error lost(std::string_view what) const;
  [[nodiscard]] Error no_server(std::string_view line) const;

  int fd_ = -1;
  Address address_;
  Options options_;
  std::string out_;  // queued; what stands before out_at_ was written
  std::size_t out_at_ = 0;
  std::string in_;  // arrived; what stands before in_at_ was taken
  std::size_t in_at_ = 0;
  std::size_t owed_ = 0;
  bool spoke_ = false;  // whether a reply has ever come
};

}  // namespace xylem::client
