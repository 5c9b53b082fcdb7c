// Child: one run of a command for one job. The body reaches it as a seekable file on standard
// input, or in its arguments, or as a named file; it leads a process group of its own, so that a
// Ctrl-C meant for the worker does not end the job, and killing it kills what it started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/result.h"

namespace xylem::tool {

enum class BodyGoes : std::uint8_t { kToInput, kIntoArguments, kIntoFile };

class Child {
 public:
  // `{}` in the words is replaced by the body or the file's path, as `goes` says. `variables` are
  // added to the environment, as NAME=VALUE.
  static Result<Child> start(std::vector<std::string> words, std::string_view body, BodyGoes goes,
                             const std::vector<std::string>& variables);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  // Kills it if it still runs, and removes its file.
  ~Child();

  // For poll: readable once it has ended.
  [[nodiscard]] int fd() const { return pid_fd_; }
  void kill(int number) const;
  // Waits for the end; the exit code as a shell says it: 128 and the number if a signal ended it.
  int wait();

 private:
  Child(pid_t pid, int pid_fd, std::string path)
      : pid_(pid), pid_fd_(pid_fd), path_(std::move(path)) {}

  pid_t pid_;
  int pid_fd_;
  std::string path_;  // of the file with the body; empty if there is none
};

// Whether a command of this name can be run.
bool is_command(const std::string& name);

}  // namespace xylem::tool
