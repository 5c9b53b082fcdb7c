// Journal: the engine's records on their way to disk, and what that makes of replies and commands.
//
//     records of a turn --append()--> log ==end_turn()==> write (+ sync), in the pool or in place
//     replies --position()--> held until released() reaches it
//
//     log.sync      a reply leaves         written                 synced
//     always        when it is on disk     with the sync           whenever a reply waits
//     interval      at once                at the end of the turn  so many ms after the first write
//     never         at once                at the end of the turn  each segment once, for space
//
// A sync runs in libuv's pool and the turns go on; what they record meanwhile is the next write's
// (group commit; gathering.h says when it begins). In place, on the loop, only while it serves
// nobody else: one connection, no timer due, a disk that was quick 16 times.
#pragma once

#include <uv.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "server/compactor.h"
#include "server/disk_worker.h"
#include "server/gathering.h"
#include "server/log.h"
#include "server/start_state.h"
#include "xylem/config.h"
#include "xylem/core/engine.h"
#include "xylem/protocol/writer.h"
#include "xylem/storage/log.h"

namespace xylem {

class Server;

class Journal {
 public:
  Journal(Server& server, uv_loop_t& loop, Engine& engine, OpenLog opened, const Config& config,
          Log& logger);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(const std::vector<Record>& records);
  // What a reply that is made now waits for.
  [[nodiscard]] std::uint64_t position() const { return log_->position(); }
  // Replies up to this position may leave. Without `always` they need not wait for a sync, but
  // where room for their records is not sure they wait until a segment has taken them.
  [[nodiscard]] std::uint64_t released() const {
    if (sync_ == SyncPolicy::kAlways || log_->has_failed()) return log_->durable();
    const bool is_sure = has_room_ahead() && !log_->is_full() && !log_->lacks_room();
    return is_sure ? kNothingWaits : log_->placed();
  }
  // Whether a reply that is made now may have to wait.
  [[nodiscard]] bool holds() const { return log_->position() > log_->durable(); }
  static constexpr std::uint64_t kNothingWaits = std::numeric_limits<std::uint64_t>::max();

  // Writes what the turn has recorded, or leaves it to the write that is under way. `alone`: the
  // loop serves one connection at most and no timer is due, so it may wait for the disk.
  void end_turn(bool alone);
  // The loop must not sleep: a sync is to begin in a moment; there is something to log again; or
  // compaction waited for a write that has ended already, so that nothing else will wake it.
  [[nodiscard]] bool has_more() const {
    if (settling_) return false;
    return is_gathering_ || compactor_.has_more() || (wrote_in_place_ && compactor_.is_at_work());
  }
  // The log is at its bound, and compaction at work.
  [[nodiscard]] bool is_over() const { return compactor_.is_behind(); }
  // That, or more waits for the disk than should, or than there is room for: no socket is to be
  // read.
  [[nodiscard]] bool is_behind() const;
  // For a put with such a body (WriteAheadLog::room_for()); to be asked before it is executed,
  // again in each turn.
  [[nodiscard]] WriteAheadLog::Room room_for_put(std::uint32_t body_bytes);
  [[nodiscard]] bool has_failed() const { return log_->has_failed(); }
  // It has failed, and the engine was told.
  [[nodiscard]] bool has_given_up() const { return state_ == LogState::kFailed; }

  void configure(const Config& config);
  [[nodiscard]] LogStats stats() const;

  // Stopping: has all synced; true when that is done and nothing runs any more.
  bool settle();
  // After settle(): gives back what is not used.
  void shut();

  // The workers'.
  void done(std::unique_ptr<LogWrite> write);
  void done(std::unique_ptr<LogChore> chore);

 private:
  // The segments at hand take what waits, as far as can be known.
  [[nodiscard]] bool has_room_ahead() const { return log_->waiting_bytes() <= log_->room_ahead(); }
  [[nodiscard]] bool wants_sync() const;
  [[nodiscard]] bool gathers(bool alone) const;
  void start_sync_timer();
  [[nodiscard]] LogMoment moment() const;
  void write(bool alone);
  void finish(std::unique_ptr<LogWrite> write);
  void do_chores();
  void tell_state();
  void retry_while_short();
  void count_sync(const LogWrite& write);

  Server& server_;
  Engine& engine_;
  Log& logger_;
  OpenLog opened_;
  std::unique_ptr<WriteAheadLog> log_;
  Compactor compactor_;
  DiskWorker<LogWrite, Journal> writer_;
  DiskWorker<LogChore, Journal> janitor_;
  uv_timer_t sync_timer_{};   // interval: runs while something is written and not synced
  uv_timer_t retry_timer_{};  // runs while a spare, or a larger one, cannot be had

  SyncPolicy sync_ = SyncPolicy::kAlways;
  std::uint32_t interval_ms_ = 0;
  bool sync_is_due_ = false;
  bool settling_ = false;
  Gathering gathering_;
  bool is_gathering_ = false;    // in this turn
  bool wrote_in_place_ = false;  // in this turn
  SegmentNumber segment_ = 0;    // as the engine was told
  LogState state_ = LogState::kOk;
  std::uint32_t quick_syncs_ = 0;  // in a row

  std::uint64_t damaged_count_;
  std::uint64_t records_written_ = 0;
  std::uint64_t records_synced_ = 0;
  std::uint64_t records_unsynced_ = 0;
  std::uint64_t sync_count_ = 0;
  std::uint64_t last_sync_us_ = 0;
  std::uint64_t worst_sync_us_ = 0;
};

}  // namespace xylem
