// Reading /proc. A thread that ends between its listing and the reading counts nothing, and what a
// thread spent is lost with it: servers that start threads as they go look cheaper than they are.
#include "process.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "client.h"
#include "failure.h"

namespace xylem::load {

namespace {

std::uint64_t first_number(const std::string& path) {
  std::uint64_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

// The number of the line `key: NUMBER` in a file of /proc.
std::uint64_t line_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return stat_of(line, key);
  }
  fail("cannot read {} of the server in {}", key, path);
}

}  // namespace

Process Process::behind(const Address& address) {
  Client client(address);
  client.call("stats\r\n", "OK");
  const auto pid = static_cast<pid_t>(stat_of(client.body(), "pid"));
  const bool here = pid > 0 && address.local() &&
                    access(fmt::format("/proc/{}/smaps_rollup", pid).c_str(), R_OK) == 0;
  return here ? Process(pid) : Process();
}

Duration Process::cpu_time() const {
  if (!seen()) return Duration::zero();
  std::uint64_t sum = 0;
  std::error_code gone;
  const std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid_), gone);
  if (gone) fail("the server (pid {}) has ended", pid_);
  for (const auto& thread : threads) sum += first_number(thread.path().string() + "/schedstat");
  return Duration(static_cast<std::int64_t>(sum));
}

std::uint64_t Process::rss_bytes() const {
  if (!seen()) return 0;
  return line_of(fmt::format("/proc/{}/smaps_rollup", pid_), "Rss") * 1024;
}

std::uint64_t Process::peak_rss_bytes() const {
  if (!seen()) return 0;
  return line_of(fmt::format("/proc/{}/status", pid_), "VmHWM") * 1024;
}

std::uint64_t Process::written_bytes() const {
  if (!seen()) return 0;
  return line_of(fmt::format("/proc/{}/io", pid_), "write_bytes");
}

void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail_errno(fmt::format("run on core {}", cpu));
}

std::uint64_t stat_of(const std::string& body, const std::string& key) {
  const std::string wanted = key + ":";
  std::size_t at = body.starts_with(wanted) ? 0 : body.find("\n" + wanted);
  if (at == std::string::npos) return 0;
  at = body.find_first_of("0123456789", body.find(':', at));
  std::uint64_t number = 0;
  if (at != std::string::npos) {
    std::from_chars(body.data() + at, body.data() + body.size(), number);
  }
  return number;
}

}  // namespace xylem::load
