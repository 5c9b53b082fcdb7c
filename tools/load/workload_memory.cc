// Memory: the growth of the server's RSS, allocator and all, for each job, connection and tube; and
// how much of it is kept after the queue has drained. Wants a fresh server: one that has worked
// before has room to spare.
#include <algorithm>

#include "bench.h"
#include "failure.h"
#include "scripts.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kJobs = 1000000;
constexpr std::uint64_t kConnections = 10000;
constexpr std::uint64_t kTubes = 10000;
constexpr std::uint64_t kHour = 3600;
constexpr auto kRest = std::chrono::seconds{2};  // for what a server gives back by and by

void need_process(const Bench& bench) {
  if (!bench.process.seen()) fail("{}: its memory cannot be seen from here", bench.address.text);
}

// A first job, so that what the first job costs is not shared out among the others.
std::uint64_t rss_at_rest(const Bench& bench) {
  fill(bench, kTube, 1, 0, 0);
  sleep_for(std::chrono::milliseconds{100});
  return bench.process.rss_bytes();
}

double growth(std::uint64_t before, std::uint64_t after) {
  return static_cast<double>(after) - static_cast<double>(before);
}

void drain(const Bench& bench, std::uint64_t count) {
  Options options = bench.options;
  options.pipeline = 64;
  Swarm swarm(bench.address, options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  CycleScript script(options, false, count, kNever);
  swarm.run(script, bench.patience());
}

void kick_all(const Bench& bench) {
  Client client = client_in(bench, kTube);
  client.call("kick 4294967295\r\n", "KICKED");
}

Figures jobs_memory(const Bench& bench, std::uint64_t delay) {
  need_process(bench);
  const std::uint64_t count = bench.options.jobs_or(kJobs);
  const std::uint64_t before = rss_at_rest(bench);
  fill(bench, kTube, count, 0, delay);
  const std::uint64_t peak = bench.process.rss_bytes();
  if (delay > 0) kick_all(bench);
  drain(bench, count + 1);
  sleep_for(kRest);
  const double kept = growth(before, bench.process.rss_bytes()) / growth(before, peak);
  return {{"job-bytes", "B", growth(before, peak) / static_cast<double>(count)},
          {"kept", "%", 100 * std::max(kept, 0.0)}};
}

}  // namespace

Figures run_memory_ready(const Bench& bench) { return jobs_memory(bench, 0); }

Figures run_memory_delayed(const Bench& bench) { return jobs_memory(bench, kHour); }

Figures run_memory_connections(const Bench& bench) {
  need_process(bench);
  const std::uint64_t count = bench.options.jobs_or(kConnections);
  const std::uint64_t before = rss_at_rest(bench);
  Swarm idle(bench.address, count);
  idle.greet("list-tube-used\r\n", 1);
  sleep_for(std::chrono::milliseconds{200});
  const double bytes = growth(before, bench.process.rss_bytes());
  sweep(bench, kTube);
  return {{"connection-bytes", "B", bytes / static_cast<double>(count)}};
}

Figures run_memory_tubes(const Bench& bench) {
  need_process(bench);
  const std::uint64_t count = bench.options.tubes_or(kTubes);
  const auto bytes_per_tube = [&](std::uint64_t delay) {
    const std::uint64_t before = rss_at_rest(bench);
    if (create_tubes(bench, count, bench.patience(), delay) < count) {
      fail("creating tubes took too long");
    }
    sleep_for(std::chrono::milliseconds{100});
    return growth(before, bench.process.rss_bytes()) / static_cast<double>(count);
  };
  const double with_ready = bytes_per_tube(0);
  const double for_delayed = bytes_per_tube(kTubeDelay);
  sweep_tubes(bench, count);
  sweep(bench, kTube);
  return {{"tube-bytes", "B", with_ready}, {"first-delayed-bytes", "B", for_delayed}};
}

}  // namespace xylem::load
