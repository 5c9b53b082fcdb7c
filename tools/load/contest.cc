// Which servers there are, where those that we start listen, and whose turn it is. A server that we
// start lives for one turn.
#include "contest.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include "failure.h"
#include "floor.h"
#include "spawn.h"

namespace xylem::load {

namespace {

struct Entrant {
  std::string name;
  Address address;
  std::function<void()> start;  // what the child process does; empty if the server runs already
};

// A directory for unix sockets, gone at the end.
class SocketDirectory {
 public:
  SocketDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "xylem-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail_errno("create a directory for sockets");
    path_ = name;
  }
  ~SocketDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Address own_address(const Options& options, const SocketDirectory& directory, std::size_t index) {
  if (options.over_unix) {
    return parse_address(
        fmt::format("unix:{}", (directory.path() / std::to_string(index)).string()));
  }
  return parse_address(fmt::format("127.0.0.1:{}", options.port + index));
}

void add_spawned(const Options& options, const SocketDirectory& directory,
                 std::vector<Entrant>& entrants) {
  for (const std::string& spawn : options.spawn) {
    const std::size_t sign = spawn.find('=');
    if (sign == std::string::npos) fail("--spawn {}: want NAME=COMMAND", spawn);
    Address address = own_address(options, directory, entrants.size());
    auto start = [command = spawn.substr(sign + 1), address] { exec_server(command, address); };
    entrants.push_back({spawn.substr(0, sign), std::move(address), std::move(start)});
  }
}

std::vector<Entrant> entrants_of(const Options& options, const Workload& workload,
                                 const SocketDirectory& directory) {
  std::vector<Entrant> entrants;
  if (!options.server.empty()) {
    entrants.push_back({options.server, parse_address(options.server), {}});
  }
  add_spawned(options, directory, entrants);
  for (const std::string& other : options.compare) {
    entrants.push_back({other, parse_address(other), {}});
  }
  if (options.floor && workload.suits_floor) {
    Address address = own_address(options, directory, entrants.size());
    auto start = [address] { serve_floor(address); };
    entrants.push_back({"floor", std::move(address), std::move(start)});
  }
  if (entrants.empty()) fail("the floor server cannot do {}", workload.name);
  return entrants;
}

int core_or(int wanted, int otherwise) {
  if (wanted != -2) return wanted;
  return sysconf(_SC_NPROCESSORS_ONLN) >= 2 ? otherwise : -1;
}

Figures take_turn(const Options& options, const Workload& workload, const Entrant& entrant) {
  std::optional<SpawnedServer> server;
  if (entrant.start) {
    server.emplace(entrant.name, entrant.address, core_or(options.server_cpu, 0), entrant.start);
  }
  const Process process = server ? Process(server->pid()) : Process::behind(entrant.address);
  return workload.run({options, entrant.address, process, server.has_value()});
}

}  // namespace

bool Contestant::median(const std::string& figure, double& value) const {
  std::vector<double> values;
  for (const Figures& run : runs) {
    for (const Figure& one : run) {
      if (one.name == figure) values.push_back(one.value);
    }
  }
  if (values.empty()) return false;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  value = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return true;
}

std::vector<Contestant> hold_contest(const Options& options, const Workload& workload) {
  const SocketDirectory directory;
  const std::vector<Entrant> entrants = entrants_of(options, workload, directory);
  pin(core_or(options.cpu, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) - 1));
  std::vector<Contestant> contestants;
  for (const Entrant& entrant : entrants) contestants.push_back({.name = entrant.name, .runs = {}});
  for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      const bool sits_out = i > 0 && options.peer_repeats > 0 && repeat >= options.peer_repeats;
      if (!sits_out) contestants[i].runs.push_back(take_turn(options, workload, entrants[i]));
    }
  }
  return contestants;
}

}  // namespace xylem::load
