// What a workload is given and what it returns. A workload runs once against one server and returns
// figures; main runs it against every server in turn, several times, and shows the medians.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "address.h"
#include "client.h"
#include "clock.h"
#include "histogram.h"
#include "log_folder.h"
#include "options.h"
#include "process.h"
#include "spawn.h"

namespace xylem::load {

struct Figure {
  std::string name;  // words joined by '-', as docs/benchmarks.md explains them
  std::string unit;
  double value = 0;
};

using Figures = std::vector<Figure>;

struct Bench {
  const Options& options;
  const Address& address;
  Process process;
  bool fresh =
      false;  // the server was started for this run and ends with it: nothing is cleaned up
  const LogFolder* log = nullptr;   // where its log is; null if it has none, or is not ours
  SpawnedServer* server = nullptr;  // null if it is not ours

  [[nodiscard]] Duration patience() const { return from_seconds(options.patience); }
};

struct Workload {
  std::string_view name;
  std::string_view help;
  bool suits_floor = false;  // whether constant answers are enough for it
  Figures (*run)(const Bench&) = nullptr;
};

/// All workloads, in the order of the documentation.
std::span<const Workload> workloads();

/// CPU and wall time of the server from here to stop(). Both ends wait until the server has had a
/// moment to fall asleep, because its account is exact only then; that moment is not part of the
/// wall time.
class Meter {
 public:
  explicit Meter(const Bench& bench);
  void stop();

  [[nodiscard]] Duration cpu() const { return cpu_; }
  [[nodiscard]] Duration wall() const { return wall_; }

  /// Adds NAME-cpu (microseconds each; left out if the server cannot be seen) and NAME-rate (each
  /// second).
  void report(std::string_view name, std::uint64_t count, Figures& figures) const;
  /// Server CPU in microseconds for each of `count`; 0 if the server cannot be seen.
  [[nodiscard]] double cpu_each(std::uint64_t count) const;

 private:
  const Bench& bench_;
  Time start_;
  Duration cpu_start_;
  Duration cpu_{};
  Duration wall_{};
};

/// The tube of number `index` that a workload spreads over: never one of the user's own.
std::string tube_name(std::uint64_t index);
/// The tube that most workloads keep to.
inline constexpr std::string_view kTube = "xylem-bench";

/// `use` and `watch` this tube and nothing else. Three replies.
std::string enter_tube(std::string_view tube);
inline constexpr std::uint64_t kEnterReplies = 3;
/// A client that has done so.
Client client_in(const Bench& bench, std::string_view tube);

/// One whole put.
std::string put_command(std::uint64_t pri, std::uint64_t delay, std::uint64_t body_bytes);

/// Puts `count` jobs of the same kind by one connection, unmeasured.
void fill(const Bench& bench, std::string_view tube, std::uint64_t count, std::uint64_t pri,
          std::uint64_t delay);

/// Deletes every job of the tube, in whatever state, unless the server is ours to throw away.
void sweep(const Bench& bench, std::string_view tube);
/// The same for the tubes of the numbers below `count`.
void sweep_tubes(const Bench& bench, std::uint64_t count);

// A day, in seconds.
inline constexpr std::uint64_t kTubeDelay = 86400;

/// Creates the tubes of the numbers below `count` by use and put (a job that stays a day delayed,
/// if not told otherwise), and returns how many were made within the patience of `limit`.
std::uint64_t create_tubes(const Bench& bench, std::uint64_t count, Duration limit,
                           std::uint64_t delay = kTubeDelay);

inline constexpr std::uint64_t kTtr = 86400;
inline constexpr Time kNever = Time::max();

}  // namespace xylem::load
