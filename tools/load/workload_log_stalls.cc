// Stalls by the log: a bystander (probe.h) asks every 0.2 ms for what needs no log while others
// make the log work. Segments roll while jobs are put; with --slow-sync each sync takes long; what
// is deleted from all over the log makes the server log the rest again.
//
// The loop's longest turn is never more than the worst wait and 0.2 ms: in that time somebody asks.
#include "bench.h"
#include "probe.h"
#include "scripts.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr double kSeconds = 3;
constexpr std::uint64_t kJobs = 500000;
constexpr auto kAfter = std::chrono::seconds{1};  // the server goes on compacting

// The first of each four stays.
std::vector<std::vector<std::uint64_t>> three_of_four(
    const std::vector<std::vector<std::uint64_t>>& ids) {
  std::vector<std::vector<std::uint64_t>> chosen(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t n = 0; n < ids[i].size(); ++n) {
      if (n % 4 != 0) chosen[i].push_back(ids[i][n]);
    }
  }
  return chosen;
}

void report_disk(const Bench& bench, const std::string& name, Figures& figures) {
  if (bench.log == nullptr) return;
  figures.push_back({name, "MB", static_cast<double>(bench.log->disk_bytes()) / 1e6});
}

}  // namespace

Figures run_stall_put(const Bench& bench) {
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  Tally tally;
  Figures figures = watch_while(bench, [&] {
    const Time end = Clock::now() + from_seconds(bench.options.time_or(kSeconds));
    PutScript put(bench.options, UINT64_MAX, end);
    tally = swarm.run(put, bench.patience());
  });
  const double worst_ms = static_cast<double>(tally.latency.max()) / 1e6;
  figures.push_back({"put-worst", "ms", worst_ms});
  figures.push_back(
      {"put-rate", "/s", static_cast<double>(tally.replies) / seconds(tally.elapsed)});
  report_disk(bench, "log-disk", figures);
  sweep(bench, kTube);
  return figures;
}

Figures run_stall_compact(const Bench& bench) {
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  PutScript put(bench.options, bench.options.jobs_or(kJobs));
  swarm.run(put, bench.patience());
  Figures before;
  report_disk(bench, "log-disk-before", before);
  DeleteScript deletes(bench.options, three_of_four(put.ids()));
  Figures figures = watch_while(bench, [&] {
    swarm.run(deletes, bench.patience());
    sleep_for(kAfter);
  });
  figures.insert(figures.end(), before.begin(), before.end());
  report_disk(bench, "log-disk", figures);
  sweep(bench, kTube);
  return figures;
}

}  // namespace xylem::load
