// What the user asked for. Zero means "the workload's own" for counts that depend on the workload,
// and the two cores are -2 until somebody names one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace xylem::load {

struct Options {
  std::string workload;
  std::string server;                // HOST:PORT or unix:PATH of a server that runs
  std::vector<std::string> compare;  // more of them
  std::vector<std::string> spawn;    // NAME=COMMAND: servers that we start and end
  std::string log_folder = ".";      // where the logs of those stand
  unsigned slow_sync_ms = 0;         // how much longer their syncs take
  bool floor = false;
  std::string serve_floor;     // be the floor server at this address, and nothing else
  bool over_unix = false;      // spawned servers listen on unix sockets
  std::uint16_t port = 12200;  // the first port for spawned servers
  int cpu = -2;                // -2: the last core, if there are two or more; -1: any
  int server_cpu = -2;         // -2: the first core, if there are two or more; -1: any

  std::size_t connections = 10;
  std::uint64_t pipeline = 1;
  std::uint64_t body_bytes = 100;
  std::uint64_t jobs = 0;
  std::uint64_t tubes = 0;
  std::uint64_t watchers = 0;
  std::uint64_t backlog = 0;
  bool random_priority = false;
  double rate = 290;      // jobs a second, for lateness
  double time = 0;        // seconds of measuring; 0: the workload's own
  double warm_up = 0.3;   // seconds
  double patience = 120;  // seconds without a reply after which the run fails
  unsigned repeats = 3;
  unsigned peer_repeats = 0;  // of all servers but the first; 0: as `repeats`
  bool syscalls = false;
  bool json = false;

  [[nodiscard]] std::uint64_t jobs_or(std::uint64_t other) const { return jobs > 0 ? jobs : other; }
  [[nodiscard]] std::uint64_t tubes_or(std::uint64_t other) const {
    return tubes > 0 ? tubes : other;
  }
  [[nodiscard]] double time_or(double other) const { return time > 0 ? time : other; }
};

/// Parses the command line. Returns true if the program is to go on; else `exit_code` is 0 (help
/// was shown) or 2 (the user erred and was told).
bool parse_options(int argc, char** argv, Options& options, int& exit_code);

}  // namespace xylem::load
