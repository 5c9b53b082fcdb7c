// A day in the life: every connection puts (some jobs delayed by a second), reserves without
// waiting, and does to each job that it got one of delete, release, bury or touch, by a fixed
// pseudo-random choice; now and then it kicks, peeks and asks for statistics. Replies that a full
// day may bring (TIMED_OUT, NOT_FOUND) are right; error words are not.
#include <algorithm>
#include <array>
#include <random>

#include "bench.h"
#include "failure.h"
#include "swarm.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr double kSeconds = 1.0;

constexpr std::array<std::string_view, 13> kGoodWords = {
    "INSERTED", "RESERVED", "TIMED_OUT", "DELETED", "RELEASED", "BURIED",  "TOUCHED",
    "KICKED",   "FOUND",    "NOT_FOUND", "OK",      "USING",    "WATCHING"};

class MixedScript final : public Script {
 public:
  MixedScript(const Options& options, Time end)
      : options_(options),
        end_(end),
        put_(put_command(100, 0, options.body_bytes)),
        delayed_put_(put_command(10, 1, options.body_bytes)),
        workers_(options.connections) {}

  Batch next(std::size_t connection, Time now) override {
    Worker& worker = workers_[connection];
    if (worker.held.empty() && now >= end_) return {};
    worker.batch.clear();
    const std::uint64_t reply_count =
        worker.held.empty() ? append_arrivals(worker.batch) : append_decisions(worker);
    return {worker.batch, reply_count};
  }

  void on_reply(std::size_t connection, const Reply& reply) override {
    if (std::ranges::find(kGoodWords, reply.word) == kGoodWords.end()) {
      fail("the server answered {}", reply.word);
    }
    if (reply.word == "RESERVED") workers_[connection].held.push_back(reply.id);
  }

 private:
  struct Worker {
    std::string batch;
    std::vector<std::uint64_t> held;
  };

  std::uint64_t append_arrivals(std::string& batch) {
    const std::uint64_t half = std::max<std::uint64_t>(options_.pipeline / 2, 1);
    for (std::uint64_t i = 0; i < half; ++i) batch += random_() % 8 == 0 ? delayed_put_ : put_;
    for (std::uint64_t i = 0; i < half; ++i) batch += "reserve-with-timeout 0\r\n";
    return 2 * half;
  }

  std::uint64_t append_decisions(Worker& worker) {
    std::uint64_t reply_count = 0;
    for (const std::uint64_t id : worker.held) reply_count += append_decision(id, worker.batch);
    worker.held.clear();
    return reply_count + append_housekeeping(worker.batch);
  }

  // A job is left reserved by nobody: its connection deletes, releases or buries it.
  std::uint64_t append_decision(std::uint64_t id, std::string& batch) {
    switch (random_() % 16) {
      case 0:
        batch += fmt::format("release {} 50 0\r\n", id);
        return 1;
      case 1:
        batch += fmt::format("bury {} 50\r\n", id);
        return 1;
      case 2:
        batch += fmt::format("touch {0}\r\ndelete {0}\r\n", id);
        return 2;
      default:
        batch += fmt::format("delete {}\r\n", id);
        return 1;
    }
  }

  std::uint64_t append_housekeeping(std::string& batch) {
    if (random_() % 16 != 0) return 0;
    batch += fmt::format("kick 10\r\npeek-ready\r\nlist-tube-used\r\nstats-tube {}\r\n", kTube);
    return 4;
  }

  const Options& options_;
  Time end_;
  std::string put_;
  std::string delayed_put_;
  std::vector<Worker> workers_;
  std::minstd_rand random_{1};
};

Tally mix_for(const Bench& bench, Swarm& swarm, double for_seconds) {
  MixedScript script(bench.options, Clock::now() + from_seconds(for_seconds));
  return swarm.run(script, bench.patience());
}

}  // namespace

Figures run_mixed(const Bench& bench) {
  Figures figures;
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  mix_for(bench, swarm, bench.options.warm_up);
  Meter meter(bench);
  const Tally tally = mix_for(bench, swarm, bench.options.time_or(kSeconds));
  meter.stop();
  meter.report("command", tally.replies, figures);
  figures.push_back(
      {"latency-p99", "us", static_cast<double>(tally.latency.percentile(0.99)) / 1e3});
  sweep(bench, kTube);
  return figures;
}

}  // namespace xylem::load
