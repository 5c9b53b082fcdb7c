// What a connection pays for the jobs that it holds: touch and delete, with ten jobs reserved and
// with many. Ten commands go in one write in both cases, and deletes are measured write by write
// (with ten jobs held, ten more must be reserved in between), so that the only difference is what
// is held.
#include <algorithm>
#include <random>

#include "bench.h"
#include "failure.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kTen = 10;
constexpr std::uint64_t kRounds = 200;
constexpr double kLimitSeconds = 10;

class Holder {
 public:
  explicit Holder(const Bench& bench) : bench_(bench), client_(client_in(bench, kTube)) {}

  void reserve_until(std::uint64_t count) {
    const std::uint64_t more = count - std::min<std::uint64_t>(count, held_.size());
    pipeline(
        client_, more, kTen, kNever, [](std::uint64_t, std::string& out) { out += "reserve\r\n"; },
        [&](std::uint64_t, const Reply& reply) {
          expect(reply, "RESERVED");
          held_.push_back(reply.id);
        });
    std::ranges::shuffle(held_, random_);
  }

  /// Server CPU for each touch, in microseconds.
  double touch_cost() {
    const Time end = Clock::now() + from_seconds(bench_.options.time_or(kLimitSeconds));
    Meter meter(bench_);
    const std::uint64_t done = pipeline(
        client_, kTen * kRounds * 10, kTen, end,
        [&](std::uint64_t index, std::string& out) {
          out += fmt::format("touch {}\r\n", held_[index % held_.size()]);
        },
        [](std::uint64_t, const Reply& reply) { expect(reply, "TOUCHED"); });
    meter.stop();
    return meter.cpu_each(done);
  }

  /// Server CPU for each delete, in microseconds, while `hold` jobs are held.
  double delete_cost(std::uint64_t hold) {
    const Time end = Clock::now() + from_seconds(bench_.options.time_or(kLimitSeconds));
    Duration cpu{};
    std::uint64_t done = 0;
    while (done < kTen * kRounds && Clock::now() < end) {
      reserve_until(hold);
      Meter meter(bench_);
      delete_ten();
      meter.stop();
      cpu += meter.cpu();
      done += kTen;
    }
    return seconds(cpu) * 1e6 / static_cast<double>(done);
  }

 private:
  static void expect(const Reply& reply, std::string_view word) {
    if (reply.word != word) fail("the server answered {}, not {}", reply.word, word);
  }

  void delete_ten() {
    pipeline(
        client_, kTen, kTen, kNever,
        [&](std::uint64_t, std::string& out) {
          out += fmt::format("delete {}\r\n", held_.back());
          held_.pop_back();
        },
        [](std::uint64_t, const Reply& reply) { expect(reply, "DELETED"); });
  }

  const Bench& bench_;
  Client client_;
  std::vector<std::uint64_t> held_;
  std::minstd_rand random_{1};
};

}  // namespace

Figures run_holding(const Bench& bench) {
  const std::uint64_t many = bench.options.jobs_or(20000);
  fill(bench, kTube, many + 3 * kTen * kRounds, 0, 0);
  Holder holder(bench);
  holder.reserve_until(kTen);
  holder.touch_cost();  // warm up
  const double touch_ten = holder.touch_cost();
  const double delete_ten = holder.delete_cost(kTen);
  holder.reserve_until(many);
  const double touch_many = holder.touch_cost();
  const double delete_many = holder.delete_cost(many);
  if (!bench.process.seen()) return {};
  return {{"touch-cpu-ten", "us", touch_ten},
          {"touch-cpu-many", "us", touch_many},
          {"touch-cpu-more", "us", touch_many - touch_ten},
          {"delete-cpu-ten", "us", delete_ten},
          {"delete-cpu-many", "us", delete_many},
          {"delete-cpu-more", "us", delete_many - delete_ten}};
}

}  // namespace xylem::load
