// Connecting: a non-blocking stream socket that somebody at the address has accepted, within the
// time. Every address that a name stands for is tried in turn.
#pragma once

#include "xylem/client.h"

namespace xylem::client {

// The caller closes it.
Result<int> dial(const Address& address, const Options& options);

}  // namespace xylem::client
