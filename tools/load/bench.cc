// What workloads share: measuring, tubes, filling and cleaning up. Nothing here is measured itself
// but Meter's two readings of /proc.
#include "bench.h"

#include <algorithm>

#include "failure.h"

namespace xylem::load {

namespace {

constexpr auto kSettle = std::chrono::milliseconds{3};
constexpr std::uint64_t kFillDepth = 256;

}  // namespace

Meter::Meter(const Bench& bench) : bench_(bench) {
  sleep_for(kSettle);
  cpu_start_ = bench.process.cpu_time();
  start_ = Clock::now();
}

void Meter::stop() {
  wall_ = Clock::now() - start_;
  sleep_for(kSettle);
  cpu_ = bench_.process.cpu_time() - cpu_start_;
}

double Meter::cpu_each(std::uint64_t count) const {
  return seconds(cpu_) * 1e6 / static_cast<double>(std::max<std::uint64_t>(count, 1));
}

void Meter::report(std::string_view name, std::uint64_t count, Figures& figures) const {
  if (bench_.process.seen()) {
    figures.push_back({fmt::format("{}-cpu", name), "us", cpu_each(count)});
  }
  figures.push_back(
      {fmt::format("{}-rate", name), "/s", static_cast<double>(count) / seconds(wall_)});
}

std::string tube_name(std::uint64_t index) { return fmt::format("{}-{}", kTube, index); }

std::string enter_tube(std::string_view tube) {
  return fmt::format("use {0}\r\nwatch {0}\r\nignore default\r\n", tube);
}

Client client_in(const Bench& bench, std::string_view tube) {
  Client client(bench.address, bench.patience());
  client.send(enter_tube(tube));
  client.read("USING");
  client.read("WATCHING");
  client.read("WATCHING");
  return client;
}

std::string put_command(std::uint64_t pri, std::uint64_t delay, std::uint64_t body_bytes) {
  return fmt::format("put {} {} {} {}\r\n{}\r\n", pri, delay, kTtr, body_bytes,
                     std::string(body_bytes, 'x'));
}

void fill(const Bench& bench, std::string_view tube, std::uint64_t count, std::uint64_t pri,
          std::uint64_t delay) {
  Client client = client_in(bench, tube);
  const std::string put = put_command(pri, delay, bench.options.body_bytes);
  pipeline(
      client, count, kFillDepth, kNever, [&](std::uint64_t, std::string& out) { out += put; },
      [&](std::uint64_t, const Reply& reply) {
        if (reply.word != "INSERTED") fail("{} answered {} to put", bench.address.text, reply.word);
      });
}

void sweep(const Bench& bench, std::string_view tube) {
  if (bench.fresh) return;
  Client client = client_in(bench, tube);
  while (client.call("kick 4294967295\r\n", "KICKED").id > 0) check_interrupted();
  std::string deletes;
  for (bool more = true; more;) {
    std::string reserves;
    for (std::uint64_t i = 0; i < kFillDepth; ++i) reserves += "reserve-with-timeout 0\r\n";
    client.send(reserves);
    deletes.clear();
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < kFillDepth; ++i) {
      const Reply reply = client.read();
      if (reply.word != "RESERVED") continue;
      deletes += fmt::format("delete {}\r\n", reply.id);
      ++held;
    }
    client.send(deletes);
    for (std::uint64_t i = 0; i < held; ++i) client.read("DELETED");
    more = held > 0;
  }
}

void sweep_tubes(const Bench& bench, std::uint64_t count) {
  if (bench.fresh) return;
  for (std::uint64_t index = 0; index < count; ++index) sweep(bench, tube_name(index));
}

std::uint64_t create_tubes(const Bench& bench, std::uint64_t count, Duration limit,
                           std::uint64_t delay) {
  Client client(bench.address, bench.patience());
  const std::string put = put_command(0, delay, 10);
  const std::uint64_t replies = pipeline(
      client, count * 2, kFillDepth, Clock::now() + limit,
      [&](std::uint64_t index, std::string& out) {
        out += index % 2 == 0 ? fmt::format("use {}\r\n", tube_name(index / 2)) : put;
      },
      [&](std::uint64_t index, const Reply& reply) {
        if (reply.word != (index % 2 == 0 ? "USING" : "INSERTED")) {
          fail("{} answered {} while tubes were created", bench.address.text, reply.word);
        }
      });
  return replies / 2;
}

}  // namespace xylem::load
