// Stalls: something big happens on one connection while a bystander (probe.h) asks every 0.2 ms.
// Its worst wait is the figure. The bystander's worst wait beforehand, while the server rests,
// tells how quiet the machine is.
#include <optional>

#include "bench.h"
#include "failure.h"
#include "probe.h"
#include "scripts.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr std::uint64_t kMillion = 1000000;
constexpr std::uint64_t kHour = 3600;
constexpr std::uint64_t kDepth = 256;
constexpr auto kAfter = std::chrono::seconds{1};

// Puts `count` jobs that all become due within the second before `due`: the delay shrinks as time
// goes on.
void put_due_at(const Bench& bench, std::uint64_t count, Time due) {
  Client client = client_in(bench, kTube);
  const std::string tail =
      put_command(0, 0, bench.options.body_bytes).substr(std::string("put 0 0").size());
  pipeline(
      client, count, kDepth, due - std::chrono::seconds{2},
      [&](std::uint64_t, std::string& out) {
        const auto left = std::chrono::floor<std::chrono::seconds>(due - Clock::now());
        fmt::format_to(std::back_inserter(out), "put 0 {}{}", left.count(), tail);
      },
      [](std::uint64_t, const Reply& reply) {
        if (reply.word != "INSERTED") fail("the server answered {} to put", reply.word);
      });
}

std::uint64_t ready_jobs(const Bench& bench) {
  Client client(bench.address, bench.patience());
  client.call(fmt::format("stats-tube {}\r\n", kTube), "OK");
  return stat_of(client.body(), "current-jobs-ready");
}

}  // namespace

Figures run_stall_due(const Bench& bench) {
  const std::uint64_t count = bench.options.jobs_or(kMillion);
  const Time due = Clock::now() + from_seconds(bench.options.time_or(14));
  put_due_at(bench, count, due);
  if (Clock::now() > due - std::chrono::milliseconds{1800}) {
    fail("{} took too long to put the jobs: give it more --time", bench.address.text);
  }
  sleep_for(due - std::chrono::milliseconds{1700} - Clock::now());
  Figures figures = watch_while(bench, [&] { sleep_for(due + kAfter - Clock::now()); });
  for (const Time end = Clock::now() + bench.patience(); ready_jobs(bench) < count;) {
    if (Clock::now() > end) fail("{} has not promoted all jobs", bench.address.text);
    sleep_for(std::chrono::milliseconds{50});
  }
  figures.push_back({"promoted-after", "s", seconds(Clock::now() - due)});
  sweep(bench, kTube);
  return figures;
}

Figures run_stall_kick(const Bench& bench) {
  const std::uint64_t count = bench.options.jobs_or(kMillion);
  fill(bench, kTube, count, 0, kHour);
  Client kicker = client_in(bench, kTube);
  Duration took{};
  Figures figures = watch_while(bench, [&] {
    const Time start = Clock::now();
    const Reply reply = kicker.call(fmt::format("kick {}\r\n", count), "KICKED");
    if (reply.id != count) fail("{} kicked {} of {}", bench.address.text, reply.id, count);
    took = Clock::now() - start;
    sleep_for(kQuiet);
  });
  figures.push_back({"kick-time", "ms", seconds(took) * 1e3});
  sweep(bench, kTube);
  return figures;
}

Figures run_stall_growth(const Bench& bench) {
  Swarm swarm(bench.address, bench.options.connections);
  swarm.greet(enter_tube(kTube), kEnterReplies);
  PutScript put(bench.options, bench.options.jobs_or(5 * kMillion));
  Figures figures = watch_while(bench, [&] { swarm.run(put, bench.patience()); });
  sweep(bench, kTube);
  return figures;
}

Figures run_stall_close(const Bench& bench) {
  const std::uint64_t count = bench.options.jobs_or(20000);
  fill(bench, kTube, count, 0, 0);
  std::optional<Client> holder(client_in(bench, kTube));
  pipeline(
      *holder, count, kDepth, kNever, [](std::uint64_t, std::string& out) { out += "reserve\r\n"; },
      [](std::uint64_t, const Reply& reply) {
        if (reply.word != "RESERVED") fail("the server answered {} to reserve", reply.word);
      });
  Figures figures = watch_while(bench, [&] {
    holder.reset();
    sleep_for(kAfter);
  });
  if (ready_jobs(bench) != count) fail("{} did not make all jobs ready", bench.address.text);
  sweep(bench, kTube);
  return figures;
}

Figures run_stall_list(const Bench& bench) {
  constexpr int kLists = 20;
  const std::uint64_t tubes = bench.options.tubes_or(10000);
  if (create_tubes(bench, tubes, bench.patience()) < tubes) fail("creating tubes took too long");
  Client lister = client_in(bench, kTube);
  Figures figures = watch_while(bench, [&] {
    for (int i = 0; i < kLists; ++i) {
      lister.call("list-tubes\r\n", "OK");
      sleep_for(std::chrono::milliseconds{50});
    }
  });
  sweep_tubes(bench, tubes);
  return figures;
}

}  // namespace xylem::load
