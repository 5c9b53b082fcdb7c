// Where a server listens: HOST:PORT or unix:PATH, resolved once, so that ten thousand connections
// cost ten thousand connects and nothing else. Fd owns a file descriptor.
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <utility>

namespace xylem::load {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Address {
  std::string text;  // as it was given
  sockaddr_storage socket{};
  socklen_t socket_bytes = 0;

  /// Whether the server may be on this machine: only then its pid means something here.
  [[nodiscard]] bool local() const;
};

/// Fails if the text is neither HOST:PORT nor unix:PATH, or the host is unknown.
Address parse_address(std::string_view text);

/// A connected blocking socket (without Nagle's delay); an Fd of -1 if nobody listens.
Fd try_connect(const Address& address);
/// The same, but fails if nobody listens.
Fd connect_to(const Address& address);

}  // namespace xylem::load
