// What tubes cost: making many of them, putting into many in turn, and watching many. Slow servers
// are stopped after --time seconds; what they did until then is what counts.
#include "bench.h"
#include "failure.h"
#include "workload_list.h"

namespace xylem::load {

namespace {

constexpr double kLimitSeconds = 20;
constexpr std::uint64_t kDepth = 64;
constexpr std::uint64_t kRounds = 2000;

// Returns the server's CPU in microseconds for one round: a worker waits, a job is put, the worker
// gets it and deletes it.
double blocking_rounds(const Bench& bench, Client& worker, Client& producer) {
  const std::string put = put_command(0, 0, bench.options.body_bytes);
  const Time end = Clock::now() + from_seconds(bench.options.time_or(kLimitSeconds) / 2);
  std::uint64_t rounds = 0;
  Meter meter(bench);
  for (; rounds < bench.options.jobs_or(kRounds) && Clock::now() < end; ++rounds) {
    worker.send("reserve\r\n");
    producer.call(put, "INSERTED");
    const Reply reply = worker.read("RESERVED");
    worker.call(fmt::format("delete {}\r\n", reply.id), "DELETED");
  }
  meter.stop();
  return meter.cpu_each(rounds);
}

void watch_tubes(const Bench& bench, Client& worker) {
  pipeline(
      worker, bench.options.tubes_or(1000), kDepth, kNever,
      [](std::uint64_t index, std::string& out) {
        out += fmt::format("watch {}\r\n", tube_name(index));
      },
      [&](std::uint64_t, const Reply& reply) {
        if (reply.word != "WATCHING") fail("{} answered {}", bench.address.text, reply.word);
      });
}

}  // namespace

Figures run_create_tubes(const Bench& bench) {
  const std::uint64_t wanted = bench.options.tubes_or(10000);
  const Duration limit = from_seconds(bench.options.time_or(kLimitSeconds));
  Figures figures;
  Meter meter(bench);
  const std::uint64_t made = create_tubes(bench, wanted, limit);
  meter.stop();
  meter.report("tube", made, figures);
  figures.push_back({"tubes-made", "", static_cast<double>(made)});
  figures.push_back({"create-time", "s", seconds(meter.wall())});
  sweep_tubes(bench, made);
  return figures;
}

Figures run_spread(const Bench& bench) {
  const std::uint64_t tubes = bench.options.tubes_or(10000);
  const std::uint64_t count = bench.options.jobs_or(1000000);
  create_tubes(bench, tubes, from_seconds(bench.options.patience));
  Client client(bench.address, bench.patience());
  const std::string put = put_command(0, 0, bench.options.body_bytes);
  const Time end = Clock::now() + from_seconds(bench.options.time_or(kLimitSeconds));
  Figures figures;
  Meter meter(bench);
  const std::uint64_t replies = pipeline(
      client, count * 2, kDepth, end,
      [&](std::uint64_t index, std::string& out) {
        out += index % 2 == 0 ? fmt::format("use {}\r\n", tube_name(index / 2 % tubes)) : put;
      },
      [&](std::uint64_t index, const Reply& reply) {
        if (reply.word != (index % 2 == 0 ? "USING" : "INSERTED")) {
          fail("{} answered {}", bench.address.text, reply.word);
        }
      });
  meter.stop();
  meter.report("use-and-put", replies / 2, figures);
  figures.push_back({"puts-done", "", static_cast<double>(replies / 2)});
  sweep_tubes(bench, tubes);
  return figures;
}

Figures run_watching(const Bench& bench) {
  Client worker = client_in(bench, kTube);
  Client producer = client_in(bench, kTube);
  blocking_rounds(bench, worker, producer);  // warm up
  const double alone = blocking_rounds(bench, worker, producer);
  watch_tubes(bench, worker);
  const double watching = blocking_rounds(bench, worker, producer);
  if (!bench.process.seen()) return {};
  return {{"round-cpu-alone", "us", alone},
          {"round-cpu-watching", "us", watching},
          {"round-cpu-more", "us", watching - alone}};
}

}  // namespace xylem::load
