// What one client does in one step of a differential run. A run is a list of these, so that it can
// be played again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "wire.h"

namespace xylem::differential {

struct Op {
  enum class Kind {
    kSend,       // `bytes`, then `reply_count` replies are read
    kWait,       // "reserve", which is expected to wait
    kClose,      // at once
    kHalfClose,  // then the server says its last and closes
    kDrain,      // the servers get SIGUSR1
  };
  Kind kind = Kind::kSend;
  std::size_t connection = 0;
  std::string bytes;
  std::size_t reply_count = 0;
};

// Who heard what in a step.
struct Heard {
  std::size_t connection = 0;
  Reply reply;
};

}  // namespace xylem::differential
