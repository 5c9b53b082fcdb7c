// libsystemd: sd_listen_fds(3), sd_is_socket(3) and sd_notify(3). Its errors are negative errno
// values; a notification that cannot be sent is nobody's loss and is not looked at.

#include "server/systemd.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstring>
#include <ctime>

#include "server/listen_socket.h"

namespace xylem {

Result<std::vector<int>> sockets_from_systemd() {
  const int count = sd_listen_fds(1);
  if (count < 0) {
    return Error{fmt::format("cannot take the sockets that were passed: {}", std::strerror(-count)),
                 kCannotListen};
  }
  std::vector<int> sockets;
  for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; ++fd) {
    if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, 1) <= 0) {
      return Error{fmt::format("the passed descriptor {} is no listening stream socket", fd),
                   kCannotListen};
    }
    sockets.push_back(fd);
  }
  return sockets;
}

void notify_starting(const std::string& status) {
  constexpr int kMoreSeconds = 60;
  sd_notify(
      0,
      fmt::format("STATUS={}\nEXTEND_TIMEOUT_USEC={}", status, kMoreSeconds * 1'000'000).c_str());
}

void notify_ready() { sd_notify(0, "READY=1\nSTATUS="); }

// systemd wants the time of the reload, to tell its READY from an earlier one.
void notify_reloading() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const long long us = time.tv_sec * 1'000'000LL + time.tv_nsec / 1'000;
  sd_notify(0, fmt::format("RELOADING=1\nMONOTONIC_USEC={}", us).c_str());
}

void notify_stopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace xylem
