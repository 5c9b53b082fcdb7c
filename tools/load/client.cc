// Blocking sends and reads, with a poll in front of each read, in steps of a tenth of a second, so
// that patience and Ctrl-C count.
#include "client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "failure.h"

namespace xylem::load {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

}  // namespace

Client::Client(const Address& address, Duration patience)
    : address_(address), patience_(patience), fd_(connect_to(address)) {
  buffer_.resize(kBufferBytes);
}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      check_interrupted();
      continue;
    }
    if (sent < 0) fail_errno("write to " + address_.text);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Client::wait(Duration duration) {
  if (!unread_.empty()) return true;
  const Time end = Clock::now() + duration;
  while (true) {
    check_interrupted();
    const Duration left = std::max<Duration>(end - Clock::now(), Duration::zero());
    const Duration step = std::min<Duration>(left, std::chrono::milliseconds{100});
    const timespec timeout{.tv_sec = 0, .tv_nsec = step.count()};
    pollfd event{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (ppoll(&event, 1, &timeout, nullptr) > 0) return true;
    if (left == Duration::zero()) return false;
  }
}

void Client::fill() {
  if (!wait(patience_)) {
    fail("{} has not answered for {} s", address_.text, seconds(patience_));
  }
  const ssize_t count = ::read(fd_.get(), buffer_.data(), buffer_.size());
  if (count < 0) fail_errno("read from " + address_.text);
  if (count == 0) fail("{} closed a connection", address_.text);
  unread_ = std::string_view(buffer_.data(), static_cast<std::size_t>(count));
}

Reply Client::read() {
  Reply reply;
  while (!parser_.next(unread_, reply)) fill();
  return reply;
}

Reply Client::read(std::string_view word) {
  const Reply reply = read();
  if (reply.word != word) fail("{} answered {}, not {}", address_.text, reply.word, word);
  return reply;
}

Reply Client::call(std::string_view command, std::string_view word) {
  send(command);
  return read(word);
}

}  // namespace xylem::load
