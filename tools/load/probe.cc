// The asking thread. An exception of its own cannot cross to the main thread, so its text waits for
// stop().
#include "probe.h"

#include <pthread.h>
#include <sched.h>

#include "failure.h"

namespace xylem::load {

namespace {

constexpr auto kPeriod = std::chrono::microseconds{200};

void ask_for_priority() {
  sched_param parameters{};
  parameters.sched_priority = 2;                                   // above a run under `chrt -r 1`
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);  // if we may
}

}  // namespace

Probe::Probe(const Bench& bench)
    : client_(bench.address, bench.patience()), thread_([this] { ask(); }) {}

Probe::~Probe() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Probe::ask() {
  ask_for_priority();
  try {
    while (!stopping_) {
      const Time sent_at = Clock::now();
      client_.call("list-tube-used\r\n", "USING");
      waits_.record(static_cast<std::uint64_t>((Clock::now() - sent_at).count()));
      sleep_until(sent_at + kPeriod);
    }
  } catch (const std::exception& error) {
    error_ = error.what();
  }
}

Histogram Probe::stop() {
  stopping_ = true;
  thread_.join();
  if (!error_.empty()) fail("the bystander: {}", error_);
  return waits_;
}

void report_waits(const Histogram& waits, Figures& figures) {
  figures.push_back({"wait-worst", "ms", static_cast<double>(waits.max()) / 1e6});
  figures.push_back({"wait-p99.9", "ms", static_cast<double>(waits.percentile(0.999)) / 1e6});
}

}  // namespace xylem::load
