// The tools write their report to a temporary file when they are interrupted; the file goes with
// the counter.
#include "syscalls.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "clock.h"
#include "failure.h"

namespace xylem::load {

namespace {

constexpr auto kAttach = std::chrono::milliseconds{500};

// perf:   12345,,raw_syscalls:sys_enter,...          strace:  100.00    0.01      1      12345    3
// total
std::optional<std::uint64_t> count_in(const std::string& line, bool perf) {
  std::uint64_t count = 0;
  if (perf) {
    if (line.find("sys_enter") == std::string::npos) return std::nullopt;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
    return error == std::errc{} ? std::optional(count) : std::nullopt;
  }
  if (!line.ends_with(" total")) return std::nullopt;
  double share = 0;
  double time = 0;
  double each = 0;
  return std::sscanf(line.c_str(), "%lf %lf %lf %lu", &share, &time, &each, &count) == 4
             ? std::optional(count)
             : std::nullopt;
}

}  // namespace

SyscallCounter::SyscallCounter(pid_t pid)
    : report_(fmt::format("{}/xylem-bench-calls-{}",
                          std::filesystem::temp_directory_path().string(), getpid())) {
  if (start(
          fmt::format("exec perf stat -x, -e raw_syscalls:sys_enter -o {} -p {}", report_, pid))) {
    return;
  }
  perf_ = false;
  start(fmt::format("exec strace -c -f -o {} -p {}", report_, pid));
}

SyscallCounter::~SyscallCounter() {
  end();
  std::error_code ignored;
  std::filesystem::remove(report_, ignored);
}

bool SyscallCounter::start(const std::string& command) {
  tool_ = fork();
  if (tool_ < 0) fail_errno("fork");
  if (tool_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  sleep_for(kAttach);
  if (waitpid(tool_, nullptr, WNOHANG) != tool_) return true;
  tool_ = 0;
  return false;
}

std::optional<std::uint64_t> SyscallCounter::stop() {
  end();
  std::ifstream report(report_);
  for (std::string line; std::getline(report, line);) {
    if (const auto count = count_in(line, perf_)) return count;
  }
  return std::nullopt;
}

void SyscallCounter::end() {
  if (tool_ <= 0) return;
  kill(tool_, SIGINT);
  waitpid(tool_, nullptr, 0);
  tool_ = 0;
}

}  // namespace xylem::load
