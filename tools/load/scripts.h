// The scripts that swarms run: put, drain, delete, and the cycle of all three. Each keeps count of
// how many jobs are still to do over all its connections; a connection that finds none left is
// done.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "clock.h"
#include "options.h"
#include "swarm.h"

namespace xylem::load {

/// Puts `count` jobs, or as many as it can until `end`. With `random_priority` each has another
/// priority, else all have 0.
class PutScript final : public Script {
 public:
  PutScript(const Options& options, std::uint64_t count, Time end = Time::max());

  Batch next(std::size_t connection, Time now) override;
  void on_reply(std::size_t connection, const Reply& reply) override;

  /// The ids that each connection was given, in order.
  std::vector<std::vector<std::uint64_t>>& ids() { return ids_; }

 private:
  void append_random_puts(std::uint64_t count, std::string& out);

  const Options& options_;
  std::uint64_t left_;
  Time end_;
  std::string tail_;  // what follows the priority: delay, ttr, size and body
  std::string put_;   // a put of priority 0
  std::string full_batch_;
  std::vector<std::string> batches_;
  std::vector<std::vector<std::uint64_t>> ids_;
  std::minstd_rand random_{1};
};

/// Deletes the jobs of these ids, each list by a connection of its own.
class DeleteScript final : public Script {
 public:
  DeleteScript(const Options& options, std::vector<std::vector<std::uint64_t>> ids);

  Batch next(std::size_t connection, Time now) override;
  void on_reply(std::size_t connection, const Reply& reply) override;

 private:
  const Options& options_;
  std::vector<std::vector<std::uint64_t>> ids_;
  std::vector<std::string> batches_;
};

/// Puts a batch, reserves a batch, deletes a batch, and again; or without `with_puts` only reserves
/// and deletes, until `count` jobs are deleted or `end` is over. No reserve ever waits, because no
/// connection reserves more than has been put.
class CycleScript final : public Script {
 public:
  CycleScript(const Options& options, bool with_puts, std::uint64_t count, Time end);

  Batch next(std::size_t connection, Time now) override;
  void on_reply(std::size_t connection, const Reply& reply) override;

  [[nodiscard]] std::uint64_t deleted() const { return deleted_; }

 private:
  enum class Phase { kIdle, kPut, kReserve, kDelete };

  struct Worker {
    Phase phase = Phase::kIdle;
    std::uint64_t depth = 0;  // of the batches of this round
    std::string deletes;
  };

  Batch begin_round(Worker& worker, Time now);
  Batch send_reserves(Worker& worker);

  const Options& options_;
  bool with_puts_;
  std::uint64_t left_;
  Time end_;
  std::uint64_t deleted_ = 0;
  std::string puts_;
  std::string reserves_;
  std::vector<Worker> workers_;
};

}  // namespace xylem::load
