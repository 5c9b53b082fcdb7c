// A server's heart on a disk in memory: the engine, the log beneath it, and the compactor, driven
// by random commands. Now and then the power is cut, in thought or for real; what a start would
// find is then held against a naive model of the records. What the log takes on disk is looked at
// after each step.
//
//     fate of what was not synced            what must be found
//     kept up to some sector, lost behind    the model at some record, not before the last one that
//                                            a reply could have told of
//     each sector, length and name kept,     each job that a durable record was the last to touch,
//     lost or garbled                        as that record left it
#pragma once

#include <uv.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "durability/model.h"
#include "server/compactor.h"
#include "simulation/simulation.h"
#include "support/memory_disk.h"
#include "xylem/core/engine.h"
#include "xylem/storage/log.h"

namespace xylem::durability {

// A record, and the batch that it went into.
struct Logged {
  std::shared_ptr<simulation::KeptRecord> record;
  BatchIndex batch = 0;
};

// A cut that happened in thought: the disk then, and what was promised.
struct Cut {
  std::unique_ptr<test::MemoryDisk> disk;
  BatchIndex durable = 0;
  std::size_t records = 0;  // that had been made
  bool in_order = false;    // what was lost was lost from some point on
};

class Asked;

// Drives a log on a disk that may fail; a failure of the disk ends it.
class World {
 public:
  explicit World(std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Random commands, writes, chores and compaction. `cuts_in_thought`: how many disk operations of
  // a thousand are looked at as if the power were cut there.
  void run(int steps, int cuts_in_thought);
  // Cuts the power, and starts anew from what is left.
  void cut_power();
  // Kills the process, and starts anew.
  void kill();
  // A clean stop and a start.
  void restart();

  // The nth disk operation from now fails; then run() until the log has failed or the steps are
  // over. Whether it has failed.
  bool run_until_failure(std::uint64_t nth, int steps);

  [[nodiscard]] std::uint64_t checks() const { return checks_; }
  [[nodiscard]] std::uint64_t retired() const { return retired_; }

 private:
  [[nodiscard]] std::uint32_t random(std::uint32_t below);
  [[nodiscard]] JobId some_job();
  void start(std::unique_ptr<test::MemoryDisk> disk);
  void open_log(const Recovered& found);
  void step();
  void execute(const Command& command);
  void put();
  void take_output();
  void write();
  void finish_write();
  void do_chore();
  void compact();
  void look_at_cuts();
  void look_at_space();
  // How many records the engine that starts on the disk stands for; aborts if it is none.
  std::size_t check(const Cut& cut);
  void check_garbled(Asked& asked, const Cut& cut);
  [[nodiscard]] Model model_at(std::size_t records) const;
  [[nodiscard]] std::size_t durable_records(BatchIndex durable) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::uint64_t seed_;
  std::mt19937_64 random_;
  Time now_{Duration(17'000'000'000'000)};
  JobId most_id_ = 0;  // that was ever given

  uv_loop_t loop_{};
  Log logger_;
  std::unique_ptr<test::MemoryDisk> disk_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WriteAheadLog> log_;
  std::unique_ptr<Compactor> compactor_;
  std::unique_ptr<LogWrite> writing_;
  SegmentNumber segment_ = 0;
  ClientId client_{};
  bool uploading_ = false;
  Output out_;

  std::vector<Logged> history_;
  std::vector<Cut> cuts_;
  int cuts_in_thought_ = 0;
  std::uint64_t checks_ = 0;
  std::uint64_t retired_ = 0;
  std::uint32_t largest_body_bytes_ = 0;
};

}  // namespace xylem::durability
