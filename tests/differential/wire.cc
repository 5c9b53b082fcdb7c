// Framing of replies as a client does it: a line, and a body if the line announces one. A body that
// is not followed by CRLF is no reply.

#include "wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <charconv>

namespace xylem::differential {
namespace {

constexpr std::string_view kCrlf = "\r\n";

// The number of body bytes that a reply line announces: its last word, for the replies that have a
// body.
std::optional<std::size_t> body_size(std::string_view line) {
  if (!line.starts_with("OK ") && !line.starts_with("FOUND ") && !line.starts_with("RESERVED ")) {
    return std::nullopt;
  }
  const std::string_view word = line.substr(line.rfind(' ') + 1);
  std::size_t size = 0;
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data(), end, size).ptr != end) return std::nullopt;
  return size;
}

}  // namespace

Wire::~Wire() { ::close(fd_); }

void Wire::send(std::string_view bytes) const {
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void Wire::half_close() const { ::shutdown(fd_, SHUT_WR); }

bool Wire::fill(std::size_t size, std::chrono::milliseconds patience) {
  while (inbox_.size() < size) {
    pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) return false;
    char bytes[1 << 14];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    inbox_.append(bytes, static_cast<std::size_t>(got));
  }
  return true;
}

std::optional<Reply> Wire::read(std::chrono::milliseconds patience) {
  std::size_t end = inbox_.find(kCrlf);
  while (end == std::string::npos) {
    if (!fill(inbox_.size() + 1, patience)) return std::nullopt;
    end = inbox_.find(kCrlf);
  }
  Reply reply{.line = inbox_.substr(0, end), .body = ""};
  inbox_.erase(0, end + kCrlf.size());
  if (const auto size = body_size(reply.line)) {
    if (!fill(*size + kCrlf.size(), patience)) return std::nullopt;
    if (inbox_.compare(*size, kCrlf.size(), kCrlf) != 0) return std::nullopt;
    reply.body = inbox_.substr(0, *size);
    inbox_.erase(0, *size + kCrlf.size());
  }
  return reply;
}

bool Wire::at_end(std::chrono::milliseconds patience) {
  pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
  char byte = 0;
  return inbox_.empty() && ::poll(&waiting, 1, static_cast<int>(patience.count())) == 1 &&
         ::recv(fd_, &byte, 1, MSG_PEEK) <= 0;
}

}  // namespace xylem::differential
