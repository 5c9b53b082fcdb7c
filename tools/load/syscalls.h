// Counts the system calls of a process while something goes on, by `perf stat` if the machine has
// it (its cost is small) or else by `strace -c` (which slows the server down, so that it may find
// more to do in each turn). Where neither works there is no figure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace xylem::load {

class SyscallCounter {
 public:
  /// Begins to count; takes half a second.
  explicit SyscallCounter(pid_t pid);
  ~SyscallCounter();
  SyscallCounter(const SyscallCounter&) = delete;
  SyscallCounter& operator=(const SyscallCounter&) = delete;

  /// Ends counting. Nothing if neither tool is there or may look.
  std::optional<std::uint64_t> stop();

 private:
  bool start(const std::string& command);
  void end();

  std::string report_;  // the file that the tool writes
  bool perf_ = true;
  pid_t tool_ = 0;
};

}  // namespace xylem::load
