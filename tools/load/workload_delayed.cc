// Delayed jobs: what a delayed put, a promotion and a cancel (delete while delayed) cost the
// server, first beside a thousand delayed jobs, then beside ten million (--backlog). The ratios are
// what counts.
#include <algorithm>
#include <array>
#include <random>

#include "bench.h"
#include "failure.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kDepth = 64;
constexpr std::uint64_t kFew = 1000;
constexpr std::uint64_t kMany = 10000000;
constexpr std::uint64_t kJobs = 100000;
constexpr std::uint64_t kSoon = 3;  // seconds until the jobs of the promotion are due
constexpr std::uint64_t kLeast = 3600;
constexpr std::uint64_t kSpan = 1000000;

struct Costs {
  double put = 0;
  double promotion = 0;
  double cancel = 0;
};

class Delays {
 public:
  explicit Delays(const Bench& bench)
      : bench_(bench),
        client_(client_in(bench, kTube)),
        count_(bench.options.jobs_or(kJobs)),
        tail_(put_command(0, 0, bench.options.body_bytes).substr(std::string("put 0 0").size())) {}

  void grow_to(std::uint64_t background) {
    put_far(background - std::min(background, background_));
    background_ = background;
  }

  Costs measure() {
    Costs costs;
    Meter put_meter(bench_);
    std::vector<std::uint64_t> ids = put_far(count_);
    put_meter.stop();
    costs.put = put_meter.cpu_each(count_);
    std::ranges::shuffle(ids, random_);
    Meter cancel_meter(bench_);
    delete_all(ids);
    cancel_meter.stop();
    costs.cancel = cancel_meter.cpu_each(count_);
    costs.promotion = promotion_cost();
    return costs;
  }

 private:
  template <typename Delay>
  std::vector<std::uint64_t> put_all(std::uint64_t count, Delay delay) {
    std::vector<std::uint64_t> ids;
    ids.reserve(count);
    pipeline(
        client_, count, kDepth, kNever,
        [&](std::uint64_t, std::string& out) {
          fmt::format_to(std::back_inserter(out), "put 0 {}{}", delay(), tail_);
        },
        [&](std::uint64_t, const Reply& reply) {
          if (reply.word != "INSERTED") fail("the server answered {} to put", reply.word);
          ids.push_back(reply.id);
        });
    return ids;
  }

  std::vector<std::uint64_t> put_far(std::uint64_t count) {
    return put_all(count, [&] { return kLeast + random_() % kSpan; });
  }

  // The jobs fall due while nothing else goes on: what the server spends then is for them.
  double promotion_cost() {
    const std::vector<std::uint64_t> ids = put_all(count_, [] { return kSoon; });
    Meter meter(bench_);
    sleep_for(std::chrono::seconds{kSoon} + std::chrono::milliseconds{200});
    meter.stop();
    client_.call(fmt::format("stats-tube {}\r\n", kTube), "OK");
    if (stat_of(client_.body(), "current-jobs-ready") != count_) {
      fail("{}: jobs were promoted too early or too late to be measured", bench_.address.text);
    }
    delete_all(ids);
    return meter.cpu_each(count_);
  }

  void delete_all(const std::vector<std::uint64_t>& ids) {
    pipeline(
        client_, ids.size(), kDepth, kNever,
        [&](std::uint64_t index, std::string& out) {
          fmt::format_to(std::back_inserter(out), "delete {}\r\n", ids[index]);
        },
        [](std::uint64_t, const Reply& reply) {
          if (reply.word != "DELETED") fail("the server answered {} to delete", reply.word);
        });
  }

  const Bench& bench_;
  Client client_;
  std::uint64_t count_;
  std::uint64_t background_ = 0;
  std::string tail_;  // of a put, behind its delay
  std::minstd_rand random_{1};
};

}  // namespace

Figures run_delayed(const Bench& bench) {
  Delays delays(bench);
  delays.grow_to(kFew);
  delays.measure();  // warm up
  const Costs few = delays.measure();
  delays.grow_to(bench.options.backlog > 0 ? bench.options.backlog : kMany);
  const Costs many = delays.measure();
  sweep(bench, kTube);
  if (!bench.process.seen()) return {};
  return {{"put-cpu-few", "us", few.put},
          {"put-cpu-many", "us", many.put},
          {"put-cpu-ratio", "x", many.put / few.put},
          {"promotion-cpu-few", "us", few.promotion},
          {"promotion-cpu-many", "us", many.promotion},
          {"promotion-cpu-ratio", "x", many.promotion / few.promotion},
          {"cancel-cpu-few", "us", few.cancel},
          {"cancel-cpu-many", "us", many.cancel},
          {"cancel-cpu-ratio", "x", many.cancel / few.cancel}};
}

}  // namespace xylem::load
