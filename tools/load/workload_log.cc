// What a log costs: the rate of puts beside the syncs of the same disk, bytes on disk and bytes
// written, and the way back after a kill. All but steady-put need a server that was started here
// with {log} in its command.
#include <algorithm>
#include <csignal>

#include "bench.h"
#include "failure.h"
#include "scripts.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr double kSeconds = 1.0;
constexpr std::uint64_t kMillion = 1000000;
constexpr std::uint64_t kLive = 100000;
constexpr auto kRest = std::chrono::seconds{1};  // for what a server does by and by
constexpr double kMegabyte = 1e6;

void need_log(const Bench& bench) {
  if (bench.log == nullptr) fail("{}: this needs --spawn with {{log}}", bench.address.text);
}

double per(std::uint64_t what, std::uint64_t count) {
  return static_cast<double>(what) / static_cast<double>(std::max<std::uint64_t>(count, 1));
}

std::uint64_t stat(const Bench& bench, const std::string& key) {
  Client client(bench.address, bench.patience());
  client.call("stats\r\n", "OK");
  return stat_of(client.body(), key);
}

Swarm swarm_in_tube(const Bench& bench) {
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  return swarm;
}

// How the rate and the waits look to the disk: `syncs` is what it does in a second, one after
// another.
void report_beside_disk(double syncs, std::uint64_t count, const Meter& meter,
                        const Histogram& waits, Figures& figures) {
  const double rate = static_cast<double>(count) / seconds(meter.wall());
  figures.push_back({"sync-rate", "/s", syncs});
  figures.push_back({"put-per-sync", "x", rate / syncs});
  for (const auto& [name, share] : {std::pair{"p50", 0.5}, {"p99", 0.99}}) {
    const double wait = static_cast<double>(waits.percentile(share)) / 1e9;
    figures.push_back({fmt::format("wait-{}-syncs", name), "syncs", wait * syncs});
  }
}

// What the server counts and the kernel counts, from here to report().
class LogMeter {
 public:
  explicit LogMeter(const Bench& bench)
      : bench_(bench), written_(bench.process.written_bytes()), fsyncs_(fsyncs()) {}

  void report(std::uint64_t jobs, Figures& figures) const {
    figures.push_back(
        {"job-written-bytes", "B", per(bench_.process.written_bytes() - written_, jobs)});
    // beanstalkd does not count its fsyncs.
    if (const std::uint64_t now = fsyncs(); now > 0) {
      figures.push_back({"job-fsyncs", "", per(now - fsyncs_, jobs)});
    }
  }

 private:
  [[nodiscard]] std::uint64_t fsyncs() const { return stat(bench_, "log-fsyncs"); }

  const Bench& bench_;
  std::uint64_t written_;
  std::uint64_t fsyncs_;
};

using Ids = std::vector<std::vector<std::uint64_t>>;

Ids put_jobs(const Bench& bench, Swarm& swarm, std::uint64_t count) {
  PutScript put(bench.options, count);
  swarm.run(put, bench.patience());
  return std::move(put.ids());
}

// Deletes every second job.
void delete_half(const Bench& bench, Swarm& swarm, const Ids& ids) {
  Ids half(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t n = 0; n < ids[i].size(); n += 2) half[i].push_back(ids[i][n]);
  }
  DeleteScript deletes(bench.options, std::move(half));
  swarm.run(deletes, bench.patience());
}

// Kills the server and starts it again, as if its process, not its machine, had died: the log is
// in the kernel's memory, so that reading it costs no disk.
Figures kill_and_recover(const Bench& bench, std::uint64_t count) {
  bench.log->settle();
  bench.server->stop(SIGKILL);
  const Time start = Clock::now();
  bench.server->start(bench.patience());
  Client(bench.address, bench.patience()).call("list-tube-used\r\n", "USING");
  const Duration took = Clock::now() - start;
  sleep_for(kRest);
  const Process process(bench.server->pid());
  const Duration cpu = process.cpu_time();
  if (const std::uint64_t jobs = stat(bench, "current-jobs-ready"); jobs != count) {
    fail("{} came back with {} jobs of {}", bench.address.text, jobs, count);
  }
  const std::uint64_t rss = process.rss_bytes();
  return {{"recovery-time", "s", seconds(took)},
          {"recovery-cpu", "us", seconds(cpu) * 1e6 / static_cast<double>(count)},
          {"recovery-rss", "MB", static_cast<double>(rss) / kMegabyte},
          {"recovery-peak-ratio", "x", per(process.peak_rss_bytes(), rss)}};
}

}  // namespace

Figures run_steady_put(const Bench& bench) {
  const Options& options = bench.options;
  Figures figures;
  double syncs = bench.log != nullptr ? bench.log->syncs_per_second() : 0;
  Swarm swarm = swarm_in_tube(bench);
  PutScript warm_up(options, UINT64_MAX, Clock::now() + from_seconds(options.warm_up));
  swarm.run(warm_up, bench.patience());
  const LogMeter log_meter(bench);
  Meter meter(bench);
  PutScript put(options, UINT64_MAX, Clock::now() + from_seconds(options.time_or(kSeconds)));
  const Tally tally = swarm.run(put, bench.patience());
  meter.stop();
  meter.report("put", tally.replies, figures);
  if (bench.log != nullptr) {
    log_meter.report(tally.replies, figures);
    syncs = (syncs + bench.log->syncs_per_second()) / 2;
    report_beside_disk(syncs, tally.replies, meter, tally.latency, figures);
  }
  sweep(bench, kTube);
  return figures;
}

Figures run_log_size(const Bench& bench) {
  need_log(bench);
  const std::uint64_t count = bench.options.jobs_or(kMillion);
  Figures figures;
  Swarm swarm = swarm_in_tube(bench);
  const LogMeter log_meter(bench);
  put_jobs(bench, swarm, count);
  sleep_for(kRest);
  log_meter.report(count, figures);
  const std::uint64_t running = bench.log->disk_bytes();
  bench.server->stop(SIGTERM);
  figures.push_back({"job-disk-bytes", "B", per(bench.log->disk_bytes(), count)});
  figures.push_back({"job-disk-bytes-running", "B", per(running, count)});
  return figures;
}

Figures run_log_churn(const Bench& bench) {
  need_log(bench);
  const Options& options = bench.options;
  const std::uint64_t count = options.jobs_or(5 * kMillion);
  Figures figures;
  Swarm swarm = swarm_in_tube(bench);
  put_jobs(bench, swarm, options.backlog > 0 ? options.backlog : kLive);
  const LogMeter log_meter(bench);
  Meter meter(bench);
  const Time end = options.time > 0 ? Clock::now() + from_seconds(options.time) : kNever;
  CycleScript churn(options, true, count, end);
  swarm.run(churn, bench.patience());
  meter.stop();
  meter.report("job", churn.deleted(), figures);
  log_meter.report(churn.deleted(), figures);
  sleep_for(kRest);
  figures.push_back({"log-disk", "MB", static_cast<double>(bench.log->disk_bytes()) / kMegabyte});
  figures.push_back({"jobs-churned", "", static_cast<double>(churn.deleted())});
  return figures;
}

Figures run_recovery(const Bench& bench) {
  need_log(bench);
  const std::uint64_t count = bench.options.jobs_or(kMillion);
  {
    Swarm swarm = swarm_in_tube(bench);
    put_jobs(bench, swarm, count);
  }
  return kill_and_recover(bench, count);
}

Figures run_recovery_half(const Bench& bench) {
  need_log(bench);
  const std::uint64_t count = bench.options.jobs_or(kMillion);
  {
    Swarm swarm = swarm_in_tube(bench);
    const Ids ids = put_jobs(bench, swarm, 2 * count);
    delete_half(bench, swarm, ids);
    if (stat(bench, "current-jobs-ready") != count)
      fail("half of {} is not even: other --jobs", 2 * count);
  }
  return kill_and_recover(bench, count);
}

}  // namespace xylem::load
