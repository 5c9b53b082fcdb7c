// Listening sockets: bound to an address or host name, or to a path (socket_file.h), or passed to
// us. The file of a path that we bound to goes when we stop.
#pragma once

#include <sys/stat.h>

#include <string>
#include <variant>

#include "server/log.h"
#include "xylem/config.h"
#include "xylem/result.h"

namespace xylem {

// There is nothing to listen on: the address is taken, or not to be had.
inline constexpr int kCannotListen = 111;

struct ListenSocket {
  int descriptor = -1;
  std::string name{};  // for an operator
  std::string path{};  // of our socket file, or empty
  struct stat file {};
};

// Binds; nobody can connect before start_listening(), which fails if somebody else was first to
// listen or has taken the path. Errors name the address; exit code kCannotListen. An IPv6 wildcard
// takes IPv4 connections too, unless `only_ipv6`.
Result<ListenSocket> bind_to(const ListenAddress& address, bool only_ipv6 = false);
Result<std::monostate> start_listening(const ListenSocket& socket);
// A socket that was passed to us and listens already.
ListenSocket adopt(int descriptor);

// Removes the file of a unix socket, if it still is the one that we made. Closes the descriptor.
// A file that may not be removed (-u, and a folder of root's) is told in the log.
void close_and_remove(const ListenSocket& socket, Log& log);

}  // namespace xylem
