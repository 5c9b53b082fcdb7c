// The server as a process on this machine: what it has spent and what it holds, read from /proc.
// CPU is the scheduler's own account in nanoseconds (schedstat), of all threads; it is exact while
// the process sleeps, so readers let it come to rest first. RSS is from smaps_rollup, which is
// exact too; statm can be off by some hundred KiB.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "address.h"
#include "clock.h"

namespace xylem::load {

class Process {
 public:
  /// A process that cannot be seen from here: all figures are missing.
  Process() = default;
  explicit Process(pid_t pid) : pid_(pid) {}

  /// The server at this address, by the pid in its `stats`; unseen if it runs on another machine.
  static Process behind(const Address& address);

  [[nodiscard]] bool seen() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// CPU time of all threads that live now; zero if unseen.
  [[nodiscard]] Duration cpu_time() const;
  /// Resident bytes; zero if unseen.
  [[nodiscard]] std::uint64_t rss_bytes() const;
  /// The most that was ever resident (VmHWM), zero if unseen.
  [[nodiscard]] std::uint64_t peak_rss_bytes() const;
  /// Bytes that it caused to go to disk (write_bytes of /proc/PID/io): whole pages of files, once
  /// for each time that they were dirtied after they were written. Zero if unseen.
  [[nodiscard]] std::uint64_t written_bytes() const;

 private:
  pid_t pid_ = 0;
};

/// Binds the calling thread to one core; -1 leaves it alone. Fails if there is no such core.
void pin(int cpu);

/// The number after `key: ` in a stats body, 0 if it is not there.
std::uint64_t stat_of(const std::string& body, const std::string& key);

}  // namespace xylem::load
