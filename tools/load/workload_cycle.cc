// The cycle: every connection puts, reserves and deletes, round and round. With other tubes,
// waiting workers or a backlog asked for, it is measured without them first, then with them, in one
// process, and the ratio of the two is a figure of its own.
#include <optional>

#include "bench.h"
#include "failure.h"
#include "scripts.h"
#include "syscalls.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr double kSeconds = 1.0;
constexpr std::uint64_t kBacklogPriority = 4294967295;  // behind the jobs of the cycle
constexpr auto kCreateLimit = std::chrono::seconds{600};

// The workers that wait, each on a tube of its own: next() sends them there, and their reserve is
// never answered.
class WaitScript final : public Script {
 public:
  explicit WaitScript(std::size_t count) : commands_(count) {}

  Batch next(std::size_t connection, Time /*now*/) override {
    std::string& commands = commands_[connection];
    if (!commands.empty()) return {};
    commands = fmt::format("watch {}-wait-{}\r\nignore default\r\nreserve\r\n", kTube, connection);
    return {commands, 2};
  }

  void on_reply(std::size_t /*connection*/, const Reply& reply) override {
    if (reply.word != "WATCHING") fail("the server answered {} to watch", reply.word);
  }

 private:
  std::vector<std::string> commands_;
};

struct Round {
  Tally tally;
  std::uint64_t commands = 0;
};

Round cycle_for(const Bench& bench, Swarm& swarm, double for_seconds) {
  const std::uint64_t count = bench.options.jobs_or(UINT64_MAX);
  CycleScript script(bench.options, true, count, Clock::now() + from_seconds(for_seconds));
  Round round{.tally = swarm.run(script, bench.patience())};
  round.commands = script.deleted() * 3;
  return round;
}

// Returns the server's CPU in microseconds for each command.
double measure(const Bench& bench, Swarm& swarm, Figures& figures) {
  cycle_for(bench, swarm, bench.options.warm_up);
  Meter meter(bench);
  const Round round = cycle_for(bench, swarm, bench.options.time_or(kSeconds));
  meter.stop();
  meter.report("command", round.commands, figures);
  for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}) {
    const auto wait = static_cast<double>(round.tally.latency.percentile(share));
    figures.push_back({fmt::format("latency-{}", name), "us", wait / 1e3});
  }
  return meter.cpu_each(round.commands);
}

std::optional<Swarm> start_waiters(const Bench& bench) {
  if (bench.options.watchers == 0) return std::nullopt;
  std::optional<Swarm> waiters(std::in_place, bench.address, bench.options.watchers);
  WaitScript script(bench.options.watchers);
  waiters->run(script, bench.patience());
  return waiters;
}

void create_tubes_timed(const Bench& bench, Figures& figures) {
  if (bench.options.tubes == 0) return;
  const Time start = Clock::now();
  if (create_tubes(bench, bench.options.tubes, kCreateLimit) < bench.options.tubes) {
    fail("creating {} tubes took too long", bench.options.tubes);
  }
  figures.push_back({"create-tubes", "s", seconds(Clock::now() - start)});
}

void count_syscalls(const Bench& bench, Swarm& swarm, Figures& figures) {
  if (!bench.options.syscalls || !bench.process.seen()) return;
  SyscallCounter counter(bench.process.pid());
  const Round round = cycle_for(bench, swarm, bench.options.time_or(kSeconds));
  const std::optional<std::uint64_t> calls = counter.stop();
  if (!calls) return;
  const double each = static_cast<double>(*calls) / static_cast<double>(round.commands);
  figures.push_back({"command-syscalls", "", each});
}

}  // namespace

Figures run_cycle(const Bench& bench) {
  const Options& options = bench.options;
  Figures figures;
  Swarm swarm(bench.address, options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  const bool laden = options.tubes > 0 || options.watchers > 0 || options.backlog > 0;
  Figures alone;
  const double cpu_alone = laden ? measure(bench, swarm, alone) : 0;
  create_tubes_timed(bench, figures);
  const std::optional<Swarm> waiters = start_waiters(bench);
  if (options.backlog > 0) fill(bench, kTube, options.backlog, kBacklogPriority, 0);
  const double cpu = measure(bench, swarm, figures);
  if (laden && bench.process.seen()) {
    figures.push_back({"command-cpu-alone", "us", cpu_alone});
    figures.push_back({"command-cpu-ratio", "x", cpu / cpu_alone});
  }
  count_syscalls(bench, swarm, figures);
  sweep_tubes(bench, options.tubes);
  sweep(bench, kTube);
  return figures;
}

}  // namespace xylem::load
