// Resolving an address once, and connecting to it as often as is wanted. Sockets are blocking;
// swarm.cc makes its own non-blocking.
#include "address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "failure.h"

namespace xylem::load {

namespace {

void resolve_unix(std::string_view path, Address& address) {
  sockaddr_un socket{};
  if (path.empty() || path.size() >= sizeof socket.sun_path) fail("{}: bad path", address.text);
  socket.sun_family = AF_UNIX;
  std::memcpy(socket.sun_path, path.data(), path.size());
  std::memcpy(&address.socket, &socket, sizeof socket);
  address.socket_bytes = sizeof socket;
}

void resolve_host(std::string host, const std::string& port, Address& address) {
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) fail("{}: {}", address.text, gai_strerror(error));
  std::memcpy(&address.socket, found->ai_addr, found->ai_addrlen);
  address.socket_bytes = found->ai_addrlen;
  freeaddrinfo(found);
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

bool Address::local() const {
  if (socket.ss_family == AF_UNIX) return true;
  if (socket.ss_family == AF_INET6) {
    sockaddr_in6 inet6{};
    std::memcpy(&inet6, &socket, sizeof inet6);
    return IN6_IS_ADDR_LOOPBACK(&inet6.sin6_addr);
  }
  sockaddr_in inet{};
  std::memcpy(&inet, &socket, sizeof inet);
  return (ntohl(inet.sin_addr.s_addr) >> 24U) == 127;
}

Address parse_address(std::string_view text) {
  Address address{.text = std::string(text)};
  if (text.starts_with("unix:")) {
    resolve_unix(text.substr(5), address);
    return address;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    fail("{}: an address is HOST:PORT or unix:PATH", text);
  }
  resolve_host(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)), address);
  return address;
}

Fd try_connect(const Address& address) {
  Fd fd(socket(address.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) fail_errno("socket");
  const auto* target = reinterpret_cast<const sockaddr*>(&address.socket);
  if (connect(fd.get(), target, address.socket_bytes) != 0) return Fd{};
  if (address.socket.ss_family != AF_UNIX) {
    const int on = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return fd;
}

Fd connect_to(const Address& address) {
  Fd fd = try_connect(address);
  if (fd.get() < 0) fail_errno("connect to " + address.text);
  return fd;
}

}  // namespace xylem::load
