// When the log is written and synced. Everything here runs on the loop; what blocks is a task that
// a DiskWorker runs in the pool and gives back to done(). A write that does not sync is run in
// place: the kernel takes it without waiting for the disk.

#include "server/journal.h"

#include <algorithm>
#include <utility>

#include "server/clock.h"
#include "server/server.h"

namespace xylem {
namespace {

constexpr std::uint64_t kRetryMs = 1'000;
// When the loop may wait for a sync itself: after so many in a row that took less than this.
constexpr std::uint32_t kQuickSyncs = 16;
constexpr std::uint64_t kQuickSyncUs = 500;
// What the loop gives to the kernel itself, if it need not be synced: more, as is gathered during a
// slow sync, would take milliseconds.
constexpr std::uint64_t kInPlaceBytes = 262'144;

}  // namespace

Journal::Journal(Server& server, uv_loop_t& loop, Engine& engine, OpenLog opened,
                 const Config& config, Log& logger)
    : server_(server),
      engine_(engine),
      logger_(logger),
      opened_(std::move(opened)),
      log_(std::move(opened_.log)),
      compactor_(loop, *opened_.directory.files, *log_, engine, logger),
      writer_(loop, *this),
      janitor_(loop, *this),
      damaged_count_(opened_.damaged_count) {
  sync_timer_.data = retry_timer_.data = this;
  CHECK(uv_timer_init(&loop, &sync_timer_) == 0);
  CHECK(uv_timer_init(&loop, &retry_timer_) == 0);
  configure(config);
  segment_ = log_->current();
  engine_.set_segment(segment_);
}

void Journal::configure(const Config& config) {
  sync_ = config.log_sync;
  interval_ms_ = config.log_interval_ms;
  uv_timer_stop(&sync_timer_);
  if (sync_ == SyncPolicy::kInterval && log_->durable() < log_->newest()) start_sync_timer();
}

void Journal::start_sync_timer() {
  if (uv_is_active(reinterpret_cast<uv_handle_t*>(&sync_timer_)) != 0) return;
  const auto on_due = [](uv_timer_t* handle) {
    static_cast<Journal*>(handle->data)->sync_is_due_ = true;
  };
  uv_timer_start(&sync_timer_, on_due, interval_ms_, 0);
}

void Journal::append(const std::vector<Record>& records) {
  for (const Record& record : records) {
    log_->append(record);
    if (!is_note(record)) gathering_.record();
  }
}

// Both clocks at one moment, the turn's: a start goes on by the difference, so a wall clock that
// was read later would put the engine's time back by as much.
LogMoment Journal::moment() const {
  return {.cluster = server_.now_ceil(),
          .wall = wall_now() - server_.turn_age(),
          .last_id = engine_.last_id(),
          .last_bury_order = engine_.last_bury_order()};
}

// Not more is taken than there is room for, until it is known whether the disk has room for more;
// when it is full, put is refused instead.
bool Journal::is_behind() const {
  if (log_->has_failed()) return false;
  if (log_->waiting_bytes() > limits::kWaitingRecordBytes || compactor_.is_behind()) return true;
  return !log_->is_full() && !has_room_ahead();
}

WriteAheadLog::Room Journal::room_for_put(std::uint32_t body_bytes) {
  return log_->room_for(put_bytes(limits::kTubeNameBytes, body_bytes, true, false));
}

bool Journal::wants_sync() const {
  if (settling_ || sync_is_due_ || compactor_.wants_sync()) return true;
  switch (sync_) {
    case SyncPolicy::kAlways:
      return log_->position() > log_->durable();
    case SyncPolicy::kInterval:
    case SyncPolicy::kNoSync:
      return false;
  }
  return false;
}

// One client alone gathers nothing, nor does who has other reasons to sync.
bool Journal::gathers(bool alone) const {
  if (sync_ != SyncPolicy::kAlways || alone || settling_ || compactor_.wants_sync()) return false;
  return gathering_.goes_on(uv_hrtime());
}

// A stop does not wait for compaction: the next start goes on with it.
void Journal::end_turn(bool alone) {
  if (!settling_) compactor_.step();
  write(alone);
  do_chores();
  log_->forget_wishes();
  tell_state();
  retry_while_short();
}

void Journal::write(bool alone) {
  wrote_in_place_ = false;
  is_gathering_ = false;
  const bool sync = wants_sync();
  if (!log_->has_work(sync)) return;
  is_gathering_ = sync && gathers(alone);
  if (is_gathering_) return;
  std::unique_ptr<LogWrite> write = log_->begin_write(moment(), sync);
  if (write == nullptr) return;
  sync_is_due_ = false;
  if (write->synced) gathering_.sync_began();
  for (const MovedRecords& moved : write->moved) {
    for (const JobId id : moved.jobs) engine_.moved_to_segment(id, moved.to);
    for (const std::string& tube : moved.paused_tubes) engine_.moved_to_segment(tube, moved.to);
  }
  if (log_->current() != segment_) engine_.set_segment(segment_ = log_->current());
  // While it stops the loop has nobody to wake it but the pool.
  const bool in_place = write->synced ? alone && !settling_ && quick_syncs_ >= kQuickSyncs
                                      : write->bytes <= kInPlaceBytes;
  if (!in_place) return writer_.start(std::move(write));
  wrote_in_place_ = true;
  write->run();
  finish(std::move(write));
}

void Journal::done(std::unique_ptr<LogWrite> write) {
  server_.begin_turn();
  finish(std::move(write));
}

void Journal::finish(std::unique_ptr<LogWrite> write) {
  records_written_ += write->record_count;
  records_unsynced_ += write->record_count;
  if (write->synced && !write->error) count_sync(*write);
  const bool leaves_unsynced = !write->synced && sync_ == SyncPolicy::kInterval;
  log_->finish(std::move(write));
  if (leaves_unsynced) start_sync_timer();
  server_.log_went_on();
}

void Journal::count_sync(const LogWrite& write) {
  ++sync_count_;
  records_synced_ += std::exchange(records_unsynced_, 0);
  last_sync_us_ = write.sync_us;
  worst_sync_us_ = std::max(worst_sync_us_, last_sync_us_);
  gathering_.sync_ended(uv_hrtime(), last_sync_us_ * 1'000);
  quick_syncs_ = last_sync_us_ < kQuickSyncUs ? quick_syncs_ + 1 : 0;
}

void Journal::do_chores() {
  if (janitor_.busy()) return;
  if (std::unique_ptr<LogChore> chore = log_->begin_chore()) janitor_.start(std::move(chore));
}

void Journal::done(std::unique_ptr<LogChore> chore) {
  server_.begin_turn();
  log_->finish(std::move(chore));
}

// Each second it is asked whether there is space now.
void Journal::retry_while_short() {
  const bool is_short = !log_->has_failed() && (log_->is_full() || log_->refuses_large());
  if (is_short == (uv_is_active(reinterpret_cast<uv_handle_t*>(&retry_timer_)) != 0)) return;
  const auto on_retry = [](uv_timer_t* handle) {
    static_cast<Journal*>(handle->data)->log_->try_again();
  };
  if (is_short) {
    uv_timer_start(&retry_timer_, on_retry, kRetryMs, kRetryMs);
  } else {
    uv_timer_stop(&retry_timer_);
  }
}

// The engine is told, and once the operator.
void Journal::tell_state() {
  const LogState state = log_->has_failed() ? LogState::kFailed
                         : log_->is_full()  ? LogState::kFull
                                            : LogState::kOk;
  if (state == state_) return;
  state_ = state;
  engine_.set_log_state(state);
  switch (state) {
    case LogState::kOk:
      return logger_.info("log: there is space again");
    case LogState::kFull:
      return logger_.error("log: the disk is full; put is refused until there is space");
    case LogState::kFailed:
      logger_.critical("log: {}; jobs can be looked at, but nothing can change until a restart",
                       log_->failure().text);
      return server_.log_went_on();
  }
}

LogStats Journal::stats() const {
  LogStats stats;
  stats.state = state_;
  stats.oldest_segment = log_->oldest();
  stats.current_segment = log_->current();
  stats.segment_bytes = log_->segment_bytes();
  stats.records_written = records_written_;
  stats.records_migrated = compactor_.records_logged_again();
  stats.live_bytes = engine_.live_bytes();
  stats.total_bytes = log_->total_bytes();
  stats.segments = log_->segment_count();
  stats.damaged_records = damaged_count_;
  stats.fsyncs = sync_count_;
  stats.records_synced = records_synced_;
  stats.last_fsync_us = last_sync_us_;
  stats.worst_fsync_us = worst_sync_us_;
  return stats;
}

bool Journal::settle() {
  settling_ = true;
  if (writer_.busy() || janitor_.busy() || !compactor_.is_quiet()) return false;
  if (log_->has_failed()) return true;
  // What a full disk has no room for was answered to nobody.
  if (log_->is_full() && log_->lacks_room()) return true;
  return log_->durable() == log_->newest();
}

void Journal::shut() {
  uv_close(reinterpret_cast<uv_handle_t*>(&sync_timer_), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&retry_timer_), nullptr);
  if (log_->has_failed()) return;
  if (auto closed = log_->close(); !closed) logger_.error("log: {}", closed.error().text);
}

}  // namespace xylem
