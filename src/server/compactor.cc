// One segment at a time, the oldest. What must stay true at each step: whatever lives has its
// record in a segment that is not removed, or in one that is removed only when a newer record is on
// disk.

#include "server/compactor.h"

#include <algorithm>
#include <utility>

namespace xylem {
namespace {

// Records logged again that wait for the disk; more would only take memory.
constexpr std::uint64_t kWaitingBytes = 4'194'304;
// One slice, in bytes; limits::kSlice is one in jobs.
constexpr std::uint64_t kSliceBytes = 262'144;
// By how much a put may be longer when it is logged again: counters, a deadline.
constexpr std::uint64_t kPutGrowth = 32;
// Dead segments that one step finds.
constexpr std::size_t kRetiredPerStep = 64;

}  // namespace

Compactor::Compactor(uv_loop_t& loop, Directory& directory, WriteAheadLog& log, Engine& engine,
                     Log& logger)
    : directory_(directory), log_(log), engine_(engine), logger_(logger), reader_(loop, *this) {}

// On a full disk a segment that is less than half dead is worth retiring too.
bool Compactor::is_due() const {
  const std::uint64_t live = engine_.live_bytes();
  const std::uint64_t most =
      log_.is_full() ? live + std::min(live, log_.segment_bytes()) : 2 * live;
  if (!log_.sealed(retired_.size())) return false;
  return log_.damaged_from(retired_.size()) || log_.sealed_bytes() - retired_bytes() > most;
}

std::uint64_t Compactor::retired_bytes() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < retired_.size(); ++i) sum += log_.sealed(i)->bytes;
  return sum;
}

// design.md's bound is 2 x live + 4 segments. What is logged again takes space before it gives some
// back. A quarter of a segment is left for what the next command kills.
bool Compactor::is_over() const {
  const std::uint64_t segment = log_.segment_bytes();
  std::uint64_t most = log_.most_bytes();
  if (state_ != State::kIdle) most += std::min(segment, from_bytes_);
  return most + segment / 4 > 2 * engine_.live_bytes() + 4 * segment;
}

// Whoever deletes faster than the disk forgets is slowed down, from one command to the next. On a
// full disk that would not help, nor while the engine still frees what was flushed.
bool Compactor::is_behind() const {
  if (!is_over() || log_.is_full() || log_.has_failed() || engine_.is_freeing()) return false;
  if (state_ == State::kLogging && room_ == WriteAheadLog::Room::kNo) return false;
  return is_at_work();
}

// On a full disk a quarter of the current segment stays for the commands that are still taken.
bool Compactor::lacks_room() const {
  return log_.is_full() && log_.room() < log_.waiting_bytes() + log_.segment_bytes() / 4;
}

// For the disk; near the bound for what is on its way out, since to log again takes more space
// first.
bool Compactor::must_wait() const {
  if (log_.waiting_bytes() > std::min(kWaitingBytes, log_.segment_bytes())) return true;
  if (!retired_.empty() && is_over()) return true;
  return lacks_room();
}

// A segment larger than others may be one job, which has to fit whole.
bool Compactor::has_room() {
  const bool is_large = from_bytes_ > log_.segment_bytes() && engine_.live_in(from_) != 0;
  room_ = is_large ? log_.room_for(from_bytes_ + kPutGrowth) : WriteAheadLog::Room::kYes;
  return room_ == WriteAheadLog::Room::kYes;
}

void Compactor::step() {
  if (log_.has_failed()) return;
  remove_retired();
  if (state_ == State::kLogging && can_log() && has_room()) log_slice();
  for (std::size_t n = 0; n < kRetiredPerStep && state_ == State::kIdle && is_due(); ++n) {
    if (!begin()) break;
  }
  remove_retired();  // what replaces them may be on disk already
}

void Compactor::remove_retired() {
  if (log_.is_removing()) return;
  for (; removing_ != 0; --removing_) retired_.pop_front();
  for (const BatchIndex replaced_by : retired_) {
    if (replaced_by > log_.durable()) break;
    ++removing_;
  }
  if (removing_ != 0) log_.remove_oldest(removing_);
}

// False: not now.
bool Compactor::begin() {
  const WriteAheadLog::Sealed oldest = *log_.sealed(retired_.size());
  from_ = oldest.number;
  from_bytes_ = oldest.bytes;
  if (from_ == log_.current()) return leave_current();
  if (engine_.live_in(from_) == 0) {
    retire();
    return true;
  }
  if (engine_.is_freeing()) return false;
  state_ = State::kReading;
  reader_.start(std::make_unique<SegmentScan>(directory_, from_));
  return true;
}

// The current segment is full: what is logged again must stand in another one. A note begins it.
bool Compactor::leave_current() {
  if (log_.newest() == log_.placed()) log_.append(IdNote{engine_.last_id()});
  return false;
}

void Compactor::done(std::unique_ptr<SegmentScan> scan) {
  found_ = std::move(scan);
  next_job_ = 0;
  walked_to_ = 0;
  room_ = WriteAheadLog::Room::kYes;
  state_ = State::kLogging;
}

void Compactor::log_slice() {
  const std::uint64_t most = log_.waiting_bytes() + std::min(kSliceBytes, log_.segment_bytes() / 4);
  for (std::uint32_t n = 0; n < limits::kSlice && log_.waiting_bytes() < most; ++n) {
    if (engine_.live_in(from_) == 0) return retire();
    if (lacks_room()) return;
    out_.clear();
    const bool was_a_slice = log_some();
    for (const Record& record : out_.records) log_.append(record);
    logged_again_ += out_.records.size();
    if (was_a_slice) return;
  }
}

// A job that was found in the file; behind them the pauses; and if that was not all, then the file
// lacks what was written to it, and all jobs are looked at. Whether it took as long as a slice may.
bool Compactor::log_some() {
  if (next_job_ < found_->jobs.size()) {
    engine_.log_again(found_->jobs[next_job_++], from_, out_);
    return false;
  }
  if (!engine_.log_pauses_again(from_, 1, out_)) return false;
  if (engine_.is_freeing()) return true;
  if (walked_to_ == 0) {
    logger_.warn("{}: {}; looking at all jobs instead", directory_.path_of(segment_name(from_)),
                 found_->problem.empty() ? "jobs are missing in it" : found_->problem);
  }
  walked_to_ = engine_.log_again_after(walked_to_, from_, limits::kSlice, out_);
  return true;
}

// Which ids were given must be known from a later segment's header.
void Compactor::retire() {
  found_.reset();
  state_ = State::kIdle;
  if (log_.current_is_blank()) log_.append(IdNote{engine_.last_id()});
  retired_.push_back(log_.newest());
}

}  // namespace xylem
