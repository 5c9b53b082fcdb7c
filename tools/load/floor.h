// The floor: an empty libuv server that finds the lines, skips the bodies of puts and answers
// constants. It uses libuv as well as it can be used, so no beanstalk server on libuv can spend
// less for a command: the rest of a server's cost is its own.
#pragma once

#include "address.h"

namespace xylem::load {

/// Serves until the process is ended by a signal. Fails if it cannot listen.
void serve_floor(const Address& address);

}  // namespace xylem::load
