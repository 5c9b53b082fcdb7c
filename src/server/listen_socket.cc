// getaddrinfo, bind and listen. Between bind() and listen() the log is read, so that what is taken
// is told before, and nobody connects to a server that may not come up: each step asks again
// whether the address is still ours.

#include "server/listen_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "server/socket_file.h"
#include "xylem/check.h"

namespace xylem {
namespace {

constexpr int kBacklog = 1'024;

// Accepted sockets inherit these.
void set_options(int descriptor, int family) {
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  if (family != AF_UNIX) setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::string name_of(const sockaddr_storage& address, socklen_t length) {
  if (address.ss_family == AF_UNIX) {
    const auto& path = reinterpret_cast<const sockaddr_un&>(address).sun_path;
    return fmt::format("unix:{}", std::string(path, strnlen(path, sizeof path)));
  }
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                  port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  const bool is_v6 = address.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host.data(), is_v6 ? "]" : "", port.data());
}

std::string name_of_socket(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  CHECK(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return name_of(address, length);
}

int open_socket(int family) {
  return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

void allow_reuse(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

// Two sockets with SO_REUSEADDR can be bound to one address while neither listens, so that the
// second server would learn only after it has read its log that it is the second. It is asked for
// where it is needed: connections of a server before us still use the port.
bool bind_descriptor(int descriptor, const sockaddr* address, socklen_t length) {
  if (bind(descriptor, address, length) == 0) return true;
  if (errno != EADDRINUSE || address->sa_family == AF_UNIX) return false;
  allow_reuse(descriptor);
  return bind(descriptor, address, length) == 0;
}

// A bound socket, or -1 and errno.
int bound_socket(int family, const sockaddr* address, socklen_t length, bool only_ipv6 = false) {
  const int descriptor = open_socket(family);
  if (descriptor < 0) return -1;
  if (family == AF_INET6 && only_ipv6) {
    const int on = 1;
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  set_options(descriptor, family);
  if (bind_descriptor(descriptor, address, length)) return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

Result<ListenSocket> bind_to_tcp(const TcpAddress& address, bool only_ipv6) {
  const auto failed = [&address](const char* reason) {
    return Error{fmt::format("cannot listen on {}:{}: {}", address.host, address.port, reason),
                 kCannotListen};
  };
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const char* host = address.host.empty() ? nullptr : address.host.c_str();
  const int status = getaddrinfo(host, address.port.c_str(), &hints, &found);
  if (status != 0) return failed(gai_strerror(status));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    const int descriptor =
        bound_socket(info->ai_family, info->ai_addr, info->ai_addrlen, only_ipv6);
    if (descriptor < 0) continue;
    return ListenSocket{.descriptor = descriptor, .name = name_of_socket(descriptor)};
  }
  return failed(std::strerror(errno));
}

Result<ListenSocket> bind_to_unix(const UnixAddress& unix_address) {
  const std::string& path = unix_address.path;
  const auto failed = [&path](const char* reason) {
    return Error{fmt::format("cannot listen on unix:{}: {}", path, reason), kCannotListen};
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty()) return failed("the path is empty");
  if (path.size() >= sizeof address.sun_path) return failed("the path is longer than 107 bytes");
  path.copy(address.sun_path, path.size());
  const FolderLock lock(path);
  if (const char* reason = clear_path(path, address)) return failed(reason);
  const int descriptor =
      bound_socket(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (descriptor < 0) return failed(std::strerror(errno));
  ListenSocket socket{.descriptor = descriptor, .name = fmt::format("unix:{}", path), .path = path};
  if (lstat(path.c_str(), &socket.file) != 0) socket.path.clear();
  return socket;
}

}  // namespace

Result<ListenSocket> bind_to(const ListenAddress& address, bool only_ipv6) {
  if (const auto* tcp = std::get_if<TcpAddress>(&address)) return bind_to_tcp(*tcp, only_ipv6);
  return bind_to_unix(std::get<UnixAddress>(address));
}

Result<std::monostate> start_listening(const ListenSocket& socket) {
  const auto failed = [&socket](const char* reason) {
    return Error{fmt::format("cannot listen on {}: {}", socket.name, reason), kCannotListen};
  };
  if (socket.path.empty()) {
    allow_reuse(socket.descriptor);  // the connections inherit it, for who binds after us
    if (listen(socket.descriptor, kBacklog) != 0) return failed(std::strerror(errno));
    return std::monostate{};
  }
  const FolderLock lock(socket.path);
  if (!is_still(socket.path, socket.file)) return failed("another socket has taken the path");
  if (listen(socket.descriptor, kBacklog) != 0) return failed(std::strerror(errno));
  return std::monostate{};
}

ListenSocket adopt(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  CHECK(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  set_options(descriptor, address.ss_family);
  CHECK(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0);
  return {.descriptor = descriptor, .name = name_of(address, length)};
}

void close_and_remove(const ListenSocket& socket, Log& log) {
  if (!socket.path.empty()) {
    const FolderLock lock(socket.path);
    if (is_still(socket.path, socket.file) && unlink(socket.path.c_str()) != 0) {
      log.warn("cannot remove the socket file {}: {}", socket.path, std::strerror(errno));
    }
  }
  close(socket.descriptor);
}

}  // namespace xylem
