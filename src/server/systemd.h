// What we say to systemd and get from it: passed sockets, and how we are. Without systemd all of it
// does nothing.
#pragma once

#include <string>
#include <vector>

#include "xylem/result.h"

namespace xylem {

// The sockets that were passed to us (LISTEN_FDS), each a listening stream socket; else an Error
// with exit code 111. Empty: none were passed. The environment variables are removed.
Result<std::vector<int>> sockets_from_systemd();

// Not ready yet, but at work: "reading the log: 40 %". More time is asked for.
void notify_starting(const std::string& status);
void notify_ready();
void notify_reloading();
void notify_stopping();

}  // namespace xylem
