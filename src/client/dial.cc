// Sockets are non-blocking from the start, so that connecting ends in time; Nagle's delay is off,
// so that a short command leaves at once.
#include "client/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace xylem::client {
namespace {

Error cannot_connect(const Address& address, std::string_view why) {
  return {.text = "cannot connect to " + to_string(address) + ": " + std::string(why),
          .exit_code = kUnreachable};
}

// 0 once connected, else the errno why not; EINTR if interrupted.
int await_connected(int fd, const Options& options) {
  pollfd polled[2] = {{fd, POLLOUT, 0}, {options.interrupt_fd, POLLIN, 0}};
  int count = 0;
  do {
    count = poll(polled, 2, static_cast<int>(options.connect_timeout.count()));
  } while (count < 0 && errno == EINTR);
  if (count == 0) return ETIMEDOUT;
  if (polled[1].revents != 0) return EINTR;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

// The socket, or the negative errno.
int open_to(int family, const sockaddr* to, socklen_t size, const Options& options) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int error = connect(fd, to, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) error = await_connected(fd, options);
  if (error == 0) return fd;
  close(fd);
  return -error;
}

Result<int> dial_unix(const Address& address, const Options& options) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof to.sun_path) return cannot_connect(address, "path too long");
  address.path.copy(to.sun_path, address.path.size());
  const int fd = open_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), sizeof to, options);
  if (fd < 0) return cannot_connect(address, std::strerror(-fd));
  return fd;
}

}  // namespace

Result<int> dial(const Address& address, const Options& options) {
  if (!address.path.empty()) return dial_unix(address, options);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (code != 0) return cannot_connect(address, gai_strerror(code));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  int fd = -ENOENT;
  for (const addrinfo* each = list; each != nullptr && fd < 0 && fd != -EINTR;
       each = each->ai_next) {
    fd = open_to(each->ai_family, each->ai_addr, each->ai_addrlen, options);
  }
  if (fd == -EINTR) return Error{.text = "interrupted", .exit_code = kInterrupted};
  if (fd < 0) return cannot_connect(address, std::strerror(-fd));
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

}  // namespace xylem::client
