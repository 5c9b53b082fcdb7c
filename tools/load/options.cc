// The command line, by CLI11. Its checks end with exit code 2; what only the run can know (that
// nobody listens, say) ends with 1.
#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "bench.h"

namespace xylem::load {

namespace {

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const Workload& workload : workloads()) names.emplace_back(workload.name);
  return names;
}

std::string footer() {
  std::string text = "Workloads:\n";
  for (const Workload& workload : workloads()) {
    text += fmt::format("  {:<20} {}\n", workload.name, workload.help);
  }
  text +=
      "\nFigures are medians of all repeats; servers take turns. Exit code: 0 measured, 1 a server "
      "or the "
      "run failed, 2 bad arguments.";
  return text;
}

void add_servers(CLI::App& app, Options& options) {
  app.add_option("server", options.server, "HOST:PORT or unix:PATH of a server that runs");
  app.add_option("--compare", options.compare, "another server, measured in turn with the first");
  app.add_option("--spawn", options.spawn,
                 "NAME=COMMAND: start this server afresh for every repeat (-l and -p are "
                 "appended; {log} is a new folder)");
  app.add_option("--log-folder", options.log_folder,
                 "where those folders are made; must be on a disk (default: here)");
  app.add_option("--slow-sync", options.slow_sync_ms,
                 "each sync of servers that we start takes so many milliseconds longer");
  app.add_flag("--floor", options.floor, "also measure an empty libuv server: nobody is below it");
  app.add_option("--serve-floor", options.serve_floor, "be that empty server, at this address");
  app.add_flag("--unix", options.over_unix, "servers that we start listen on unix sockets");
  app.add_option("--port", options.port, "the first port for servers that we start");
  app.add_option("--cpu", options.cpu, "the generator's core; -1 for any (default: the last one)");
  app.add_option("--server-cpu", options.server_cpu,
                 "the core of servers that we start; -1 for any (default: 0)");
}

void add_load(CLI::App& app, Options& options) {
  const auto positive = CLI::Range(std::uint64_t{1}, std::uint64_t{4000000000});
  app.add_option("-c,--connections", options.connections, "connections")->check(positive);
  app.add_option("-d,--pipeline", options.pipeline, "commands in one write")->check(positive);
  app.add_option("-b,--body", options.body_bytes, "bytes of a body");
  app.add_option("-n,--jobs", options.jobs, "how many jobs (0: as the workload has it)");
  app.add_option("--tubes", options.tubes, "tubes: other ones for cycle, else the workload's");
  app.add_option("--watchers", options.watchers, "cycle: workers that wait on tubes of their own");
  app.add_option("--backlog", options.backlog, "jobs that lie in the tube meanwhile");
  app.add_flag("--random-priority", options.random_priority, "put with random priorities");
  app.add_option("--rate", options.rate, "lateness: due jobs a second")->check(CLI::PositiveNumber);
}

void add_run(CLI::App& app, Options& options) {
  app.add_option("-t,--time", options.time, "seconds of one measurement (0: the workload's own)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--warm-up", options.warm_up, "seconds of warming up")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--patience", options.patience, "seconds without a reply that end the run")
      ->check(CLI::PositiveNumber);
  app.add_option("-r,--repeats", options.repeats, "repeats; the median is shown")
      ->check(CLI::Range(1U, 1000U));
  app.add_option("--peer-repeats", options.peer_repeats,
                 "repeats of all servers but the first (0: as many)");
  app.add_flag("--syscalls", options.syscalls, "cycle: count system calls (needs perf or strace)");
  app.add_flag("--json", options.json, "print JSON instead of a table");
}

bool has_servers(const Options& options) {
  return options.floor || !options.server.empty() || !options.spawn.empty();
}

}  // namespace

bool parse_options(int argc, char** argv, Options& options, int& exit_code) {
  CLI::App app("Measures servers that speak the beanstalk protocol.", "xylem-bench");
  app.add_option("-w,--workload", options.workload, "what to do (default: cycle)")
      ->check(CLI::IsMember(workload_names()));
  add_servers(app, options);
  add_load(app, options);
  add_run(app, options);
  app.footer(footer());
  options.workload = "cycle";
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  if (options.serve_floor.empty() && !has_servers(options)) {
    fmt::print(stderr, "xylem-bench: name a server, or --spawn or --floor (--help explains)\n");
    exit_code = 2;
    return false;
  }
  return true;
}

}  // namespace xylem::load
