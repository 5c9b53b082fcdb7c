// Compactor: keeps the log within its bound (design: "Space"). The oldest segments are retired, one
// after the other, by logging again in slices what still lives in them:
//
//     idle --too much, or damaged--> reading --> logging again --> retired ... removed
//              the ids in its file, in the pool   a slice a turn   when all that is new is on disk
//
// Retired segments wait together for the next sync and are removed together, so that one sync frees
// as many as it can. No command waits for any of it. A segment in which nothing lives is neither
// read nor logged again.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "server/disk_worker.h"
#include "server/log.h"
#include "xylem/core/engine.h"
#include "xylem/storage/log.h"
#include "xylem/storage/segment_scan.h"

namespace xylem {

class Compactor {
 public:
  Compactor(uv_loop_t& loop, Directory& directory, WriteAheadLog& log, Engine& engine, Log& logger);

  // Does what can be done now, at most a slice of it; appends to the log.
  void step();
  // step() has more to do at once.
  [[nodiscard]] bool has_more() const {
    return state_ == State::kLogging && can_log() && room_ == WriteAheadLog::Room::kYes;
  }
  // It has something to do, now or when the disk has done its part.
  [[nodiscard]] bool is_at_work() const {
    return state_ != State::kIdle || !retired_.empty() || is_due();
  }
  // It waits for the log to be synced, whatever the policy.
  [[nodiscard]] bool wants_sync() const {
    return !retired_.empty() && log_.durable() < retired_.back();
  }
  // The log is so far over what it may take that more must not come before some of it has gone.
  [[nodiscard]] bool is_behind() const;
  // No task of its own is running.
  [[nodiscard]] bool is_quiet() const { return !reader_.busy(); }
  [[nodiscard]] std::uint64_t records_logged_again() const { return logged_again_; }

  // The reader's.
  void done(std::unique_ptr<SegmentScan> scan);

 private:
  enum class State { kIdle, kReading, kLogging };

  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] std::uint64_t retired_bytes() const;
  [[nodiscard]] bool lacks_room() const;
  [[nodiscard]] bool must_wait() const;
  [[nodiscard]] bool can_log() const { return engine_.live_in(from_) == 0 || !must_wait(); }
  bool has_room();
  void remove_retired();
  bool begin();
  bool leave_current();
  void log_slice();
  bool log_some();
  void retire();

  Directory& directory_;
  WriteAheadLog& log_;
  Engine& engine_;
  Log& logger_;
  DiskWorker<SegmentScan, Compactor> reader_;
  State state_ = State::kIdle;
  SegmentNumber from_ = 0;
  std::uint64_t from_bytes_ = 0;
  std::unique_ptr<SegmentScan> found_;
  std::size_t next_job_ = 0;  // of those that were found
  JobId walked_to_ = 0;       // of the walk over all jobs, if the file could not be trusted
  // For what is logged again; kNo: a job that is larger than a segment has to wait for the disk.
  WriteAheadLog::Room room_ = WriteAheadLog::Room::kYes;
  // For each retired segment, the oldest of the log: when this batch is on disk it may go.
  std::deque<BatchIndex> retired_;
  std::size_t removing_ = 0;  // of them
  Output out_;
  std::uint64_t logged_again_ = 0;
};

}  // namespace xylem
