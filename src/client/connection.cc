// The stream: bytes out, bytes in, and the waits between. How bytes become replies is replies.cc's.
// The socket never blocks; poll does, and it watches the caller's interrupt_fd too.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "client/dial.h"
#include "xylem/client.h"

namespace xylem::client {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kReadBytes = 65'536;
// Bytes of taken replies that may stand before the others, so that they are moved down seldom.
constexpr std::size_t kKeptBytes = 1'048'576;

Error interrupted() { return {.text = "interrupted", .exit_code = kInterrupted}; }

}  // namespace

Result<Connection> Connection::connect(const Address& address, const Options& options) {
  Result<int> fd = dial(address, options);
  if (!fd) return fd.error();
  return Connection(fd.value(), address, options);
}

Connection::Connection(int fd, Address address, const Options& options)
    : fd_(fd), address_(std::move(address)), options_(options) {}

Connection::Connection(Connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      address_(std::move(other.address_)),
      options_(other.options_),
      out_(std::move(other.out_)),
      out_at_(other.out_at_),
      in_(std::move(other.in_)),
      in_at_(other.in_at_),
      owed_(other.owed_),
      spoke_(other.spoke_) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(address_, other.address_);
  std::swap(options_, other.options_);
  std::swap(out_, other.out_);
  std::swap(out_at_, other.out_at_);
  std::swap(in_, other.in_);
  std::swap(in_at_, other.in_at_);
  std::swap(owed_, other.owed_);
  std::swap(spoke_, other.spoke_);
  return *this;
}

Connection::~Connection() {
  if (fd_ >= 0) close(fd_);
}

Result<Reply> Connection::ask(std::string_view line) {
  send(line);
  return receive();
}

Result<Reply> Connection::put(std::string_view body, const Put& put) {
  send_put(body, put);
  return receive();
}

Result<Reply> Connection::reserve(std::optional<std::chrono::seconds> timeout) {
  if (!timeout) {
    send("reserve");
    return receive(milliseconds{0});
  }
  send("reserve-with-timeout " + std::to_string(timeout->count()));
  return receive(*timeout + options_.reply_timeout);
}

// A line end inside a line would start another command; NUL in its place is refused by any server.
void Connection::send(std::string_view line) {
  const std::size_t start = out_.size();
  out_.append(line);
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(start), out_.end(),
      [](char c) { return c == '\r' || c == '\n'; }, '\0');
  out_.append("\r\n");
  ++owed_;
}

void Connection::send_put(std::string_view body, const Put& put) {
  out_.append("put ").append(std::to_string(put.pri));
  for (const std::size_t number : {std::size_t{put.delay}, std::size_t{put.ttr}, body.size()}) {
    out_.append(" ").append(std::to_string(number));
  }
  out_.append("\r\n").append(body).append("\r\n");
  ++owed_;
}

Result<std::monostate> Connection::flush() {
  while (queued_bytes() > 0) {
    Result<std::monostate> done = exchange(POLLIN | POLLOUT, options_.reply_timeout);
    if (!done) return done;
  }
  return std::monostate{};
}

Result<Reply> Connection::receive(std::optional<milliseconds> patience) {
  for (;;) {
    Result<std::optional<Reply>> reply = take_reply();
    if (!reply) return reply.error();
    if (reply.value()) return std::move(*reply.value());
    const short events = queued_bytes() > 0 ? POLLIN | POLLOUT : POLLIN;
    Result<std::monostate> done = exchange(events, patience.value_or(options_.reply_timeout));
    if (!done) return done.error();
  }
}

Result<std::optional<Reply>> Connection::receive_now() {
  if (queued_bytes() > 0) {
    Result<bool> wrote = write_some();
    if (!wrote) return wrote.error();
  }
  Result<std::optional<Reply>> reply = take_reply();
  if (!reply || reply.value()) return reply;
  Result<bool> read = read_some();
  if (!read) return read.error();
  return take_reply();
}

void Connection::half_close() { shutdown(fd_, SHUT_WR); }

// Waits for one of the events, and then reads and writes what can be.
Result<std::monostate> Connection::exchange(short events, milliseconds patience) {
  switch (wait(events, patience)) {
    case Wait::kStopped:
      return interrupted();
    case Wait::kTimedOut:
      return lost("has not answered for " + std::to_string(patience.count()) + " ms");
    case Wait::kReady:
      break;
  }
  Result<bool> read = read_some();
  if (!read) return read.error();
  if (queued_bytes() == 0) return std::monostate{};
  Result<bool> wrote = write_some();
  if (!wrote) return wrote.error();
  return std::monostate{};
}

Connection::Wait Connection::wait(short events, milliseconds patience) const {
  pollfd polled[2] = {{fd_, events, 0}, {options_.interrupt_fd, POLLIN, 0}};
  const int timeout = patience.count() > 0 ? static_cast<int>(patience.count()) : -1;
  int count = 0;
  do {
    count = poll(polled, 2, timeout);
  } while (count < 0 && errno == EINTR);
  if (polled[1].revents != 0) return Wait::kStopped;
  return count == 0 ? Wait::kTimedOut : Wait::kReady;
}

// False if the socket takes nothing now.
Result<bool> Connection::write_some() {
  const ssize_t count = ::send(fd_, out_.data() + out_at_, queued_bytes(), MSG_NOSIGNAL);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    if (errno != EPIPE && errno != ECONNRESET) return broken(errno);
    out_at_ = out_.size();  // replies may still be there to read; the end of the stream comes after
    return false;
  }
  out_at_ += static_cast<std::size_t>(count);
  if (queued_bytes() == 0) {
    out_.clear();
    out_at_ = 0;
  }
  return true;
}

// False if nothing has arrived. The end of the stream is an error: it is read only when a reply is
// owed.
Result<bool> Connection::read_some() {
  if (in_at_ == in_.size() || in_at_ > kKeptBytes) {
    in_.erase(0, in_at_);
    in_at_ = 0;
  }
  const std::size_t size = in_.size();
  in_.resize(size + kReadBytes);
  const ssize_t count = recv(fd_, in_.data() + size, kReadBytes, 0);
  const int error = errno;
  in_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count > 0) return true;
  if (count == 0) {
    return lost(in_at_ < in_.size() ? "closed the connection in the middle of a reply"
                                    : "closed the connection");
  }
  if (error == EAGAIN || error == EINTR) return false;
  return broken(error);
}

Error Connection::broken(int error) const {
  return lost("broke off: " + std::string(std::strerror(error)));
}

Error Connection::lost(std::string_view what) const {
  return {.text = to_string(address_) + " " + std::string(what), .exit_code = kUnreachable};
}

}  // namespace xylem::client
