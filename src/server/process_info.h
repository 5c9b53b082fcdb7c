// ProcessInfo: what `stats` says of the process and its machine, read once at start, and of its use
// of the CPU, read at each `stats`.
#pragma once

#include <cstdint>
#include <string>

#include "xylem/protocol/writer.h"

namespace xylem {

class ProcessInfo {
 public:
  ProcessInfo();

  // Its views live as long as this. The limits and counts of connections are the server's to fill
  // in.
  [[nodiscard]] ProcessStats stats(std::uint64_t uptime_seconds) const;

 private:
  std::string id_;
  std::string hostname_;
  std::string os_;
  std::string platform_;
};

}  // namespace xylem
