// Filling a tube and emptying it again, by as many connections as asked for: the costs of put, of
// reserve and delete together, and of deleting ready jobs by id, at whatever length of queue.
#include "bench.h"
#include "scripts.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kJobs = 100000;

Swarm swarm_in_tube(const Bench& bench) {
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  return swarm;
}

struct Steps {
  bool report_put = false;
  bool report_drain = false;
};

Figures fill_and_drain(const Bench& bench, Steps steps) {
  const std::uint64_t count = bench.options.jobs_or(kJobs);
  Figures figures;
  Swarm swarm = swarm_in_tube(bench);
  PutScript put(bench.options, count);
  Meter put_meter(bench);
  swarm.run(put, bench.patience());
  put_meter.stop();
  if (steps.report_put) put_meter.report("put", count, figures);
  CycleScript drain(bench.options, false, count, kNever);
  Meter drain_meter(bench);
  swarm.run(drain, bench.patience());
  drain_meter.stop();
  if (steps.report_drain) drain_meter.report("drain", count, figures);
  return figures;
}

}  // namespace

Figures run_put(const Bench& bench) { return fill_and_drain(bench, {.report_put = true}); }

Figures run_reserve(const Bench& bench) { return fill_and_drain(bench, {.report_drain = true}); }

Figures run_backlog(const Bench& bench) {
  return fill_and_drain(bench, {.report_put = true, .report_drain = true});
}

Figures run_delete(const Bench& bench) {
  const std::uint64_t count = bench.options.jobs_or(kJobs);
  Figures figures;
  Swarm swarm = swarm_in_tube(bench);
  PutScript put(bench.options, count);
  swarm.run(put, bench.patience());
  DeleteScript deletes(bench.options, std::move(put.ids()));
  Meter meter(bench);
  swarm.run(deletes, bench.patience());
  meter.stop();
  meter.report("delete", count, figures);
  return figures;
}

}  // namespace xylem::load
