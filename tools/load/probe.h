// A bystander: a thread with a connection of its own that sends list-tube-used every 0.2 ms and
// keeps how long it waited for each answer. It asks for real-time priority, so that a busy
// generator on the same core does not count as a wait; without the right to that, its waits are an
// upper bound.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "bench.h"
#include "histogram.h"

namespace xylem::load {

class Probe {
 public:
  /// Begins to ask.
  explicit Probe(const Bench& bench);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Ends asking; the waits in nanoseconds. Fails if the server failed the bystander.
  Histogram stop();

 private:
  void ask();

  Client client_;
  std::atomic<bool> stopping_ = false;
  Histogram waits_;
  std::string error_;
  std::thread thread_;
};

/// How long a bystander watches a server at rest, to tell how quiet the machine is.
inline constexpr auto kQuiet = std::chrono::milliseconds{500};

/// Adds the worst wait (and the 99.9th percentile) in milliseconds.
void report_waits(const Histogram& waits, Figures& figures);

/// Runs `act` under the eyes of a bystander and reports its waits, and its worst wait beforehand,
/// while the server rests.
template <typename Act>
Figures watch_while(const Bench& bench, Act act) {
  Figures figures;
  Probe before(bench);
  sleep_for(kQuiet);
  const Histogram quiet = before.stop();
  Probe probe(bench);
  act();
  report_waits(probe.stop(), figures);
  figures.push_back({"wait-worst-at-rest", "ms", static_cast<double>(quiet.max()) / 1e6});
  return figures;
}

}  // namespace xylem::load
