// peek-delayed and kick 1 in turn over a million delayed jobs: both need the job with the least
// delay left, so a server must find it again and again. A bystander shows whether finding it holds
// others up.
#include "bench.h"
#include "failure.h"
#include "probe.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kJobs = 1000000;
constexpr std::uint64_t kHour = 3600;
constexpr double kLimitSeconds = 10;

std::uint64_t peek_and_kick(const Bench& bench, std::uint64_t count, std::uint64_t depth) {
  Client client = client_in(bench, kTube);
  return pipeline(
      client, count, depth, Clock::now() + from_seconds(bench.options.time_or(kLimitSeconds)),
      [](std::uint64_t index, std::string& out) {
        out += index % 2 == 0 ? "peek-delayed\r\n" : "kick 1\r\n";
      },
      [](std::uint64_t index, const Reply& reply) {
        if (reply.word != (index % 2 == 0 ? "FOUND" : "KICKED")) {
          fail("the server answered {}", reply.word);
        }
      });
}

}  // namespace

// The waits are taken while the first commands run (the costly ones, if any are), the cost without
// a bystander, whose own commands would count.
Figures run_peek_kick(const Bench& bench) {
  const std::uint64_t count = bench.options.jobs_or(kJobs);
  const std::uint64_t depth = bench.options.pipeline + bench.options.pipeline % 2;
  Figures figures;
  fill(bench, kTube, count, 0, kHour);
  Probe probe(bench);
  peek_and_kick(bench, count / 10, depth);
  const Histogram waits = probe.stop();
  Meter meter(bench);
  const std::uint64_t done = peek_and_kick(bench, count, depth);
  meter.stop();
  meter.report("command", done, figures);
  report_waits(waits, figures);
  sweep(bench, kTube);
  return figures;
}

}  // namespace xylem::load
