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
  // What the child process does with a folder for its log; empty if the server runs already.
  std::function<void(const std::string& log)> start;
  bool logs = false;
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

// In the child, before it becomes the server: loads slow_sync.cc in front of it.
void slow_down_syncs(unsigned milliseconds) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  const auto library = self.parent_path() / "xylem-bench-slow-sync.so";
  if (!std::filesystem::exists(library)) fail("{} is missing", library.string());
  setenv("LD_PRELOAD", library.c_str(), 1);
  setenv("XYLEM_SLOW_SYNC", std::to_string(milliseconds).c_str(), 1);
}

void add_spawned(const Options& options, const SocketDirectory& directory,
                 std::vector<Entrant>& entrants) {
  for (const std::string& spawn : options.spawn) {
    const std::size_t sign = spawn.find('=');
    if (sign == std::string::npos) fail("--spawn {}: want NAME=COMMAND", spawn);
    Address address = own_address(options, directory, entrants.size());
    const std::string command = spawn.substr(sign + 1);
    auto start = [command, address, slow = options.slow_sync_ms](const std::string& log) {
      if (slow > 0) slow_down_syncs(slow);
      exec_server(command, address, log);
    };
    const bool logs = command.find(kLogWord) != std::string::npos;
    entrants.push_back({spawn.substr(0, sign), std::move(address), std::move(start), logs});
  }
}

std::vector<Entrant> entrants_of(const Options& options, const Workload& workload,
                                 const SocketDirectory& directory) {
  std::vector<Entrant> entrants;
  if (!options.server.empty()) {
    entrants.push_back({options.server, parse_address(options.server), {}, false});
  }
  add_spawned(options, directory, entrants);
  for (const std::string& other : options.compare) {
    entrants.push_back({other, parse_address(other), {}, false});
  }
  if (options.floor && workload.suits_floor) {
    Address address = own_address(options, directory, entrants.size());
    auto start = [address](const std::string&) { serve_floor(address); };
    entrants.push_back({"floor", std::move(address), std::move(start), false});
  }
  if (entrants.empty()) fail("the floor server cannot do {}", workload.name);
  return entrants;
}

int core_or(int wanted, int otherwise) {
  if (wanted != -2) return wanted;
  return sysconf(_SC_NPROCESSORS_ONLN) >= 2 ? otherwise : -1;
}

Figures take_turn(const Options& options, const Workload& workload, const Entrant& entrant) {
  if (!entrant.start) {
    return workload.run({options, entrant.address, Process::behind(entrant.address)});
  }
  std::optional<LogFolder> log;
  if (entrant.logs) log.emplace(options.log_folder);
  SpawnedServer server(entrant.name, entrant.address, core_or(options.server_cpu, 0),
                       [&] { entrant.start(log ? log->path().string() : std::string()); });
  return workload.run({.options = options,
                       .address = entrant.address,
                       .process = Process(server.pid()),
                       .fresh = true,
                       .log = log ? &*log : nullptr,
                       .server = &server});
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
