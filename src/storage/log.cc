// Where batches go. All of this runs on the loop's thread and only moves values about; what a disk
// has to do is done by log_tasks.cc, what blocks at start and stop by log_start.cc.
#include "xylem/storage/log.h"

#include <algorithm>
#include <utility>

#include "storage/salt.h"
#include "xylem/check.h"

namespace xylem {
namespace {

// A batch is closed when it has grown to this, or to a quarter of a segment, so that it wastes
// little at the end of one.
constexpr std::uint64_t kClosingBytes = 1'048'576;
constexpr std::uint64_t kBlockBytes = 4'096;  // of a file system; close enough where it is less
// Batches that are kept for their memory.
constexpr std::size_t kUnusedBatches = 4;

}  // namespace

std::uint64_t in_blocks(std::uint64_t bytes) {
  return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

void WriteAheadLog::begin_batch() {
  if (unused_.empty()) {
    open_.batch = std::make_unique<Batch>();
  } else {
    open_.batch = std::move(unused_.back());
    unused_.pop_back();
  }
  open_.thought = current();
}

std::uint64_t WriteAheadLog::closing_bytes() const {
  return std::min(kClosingBytes, std::max(kBlockBytes, segment_bytes_ / 4));
}

void WriteAheadLog::append(const Record& record) {
  if (failure_) return;
  if (open_.batch == nullptr) begin_batch();
  open_.batch->append(record);
  if (!is_note(record)) position_ = last_placed_ + closed_.size() + 1;
  if (open_.batch->bytes() >= closing_bytes()) close_batch();
}

void WriteAheadLog::close_batch() {
  if (open_.batch == nullptr) return;
  closed_bytes_ += open_.batch->bytes();
  closed_.push_back(std::move(open_));
  open_ = {};
}

std::uint64_t WriteAheadLog::waiting_bytes() const {
  return closed_bytes_ + (open_.batch == nullptr ? 0 : open_.batch->bytes());
}

BatchIndex WriteAheadLog::newest() const {
  return last_placed_ + closed_.size() + (open_.batch == nullptr ? 0 : 1);
}

bool WriteAheadLog::has_work(bool sync) const {
  const bool is_idle = !writing_ && !failure_;
  return is_idle && newest() > (sync ? durable_ : last_placed_);
}

std::unique_ptr<LogWrite> WriteAheadLog::begin_write(const LogMoment& moment, bool sync) {
  if (!has_work(sync)) return nullptr;
  close_batch();
  auto write = std::make_unique<LogWrite>();
  write->synced = sync;
  if (segments_.back().unsynced) add(*write, segments_.back(), segments_.back().end, {});
  while (!closed_.empty() && make_room(closed_.front().batch->bytes())) {
    closed_bytes_ -= closed_.front().batch->bytes();
    place(std::move(closed_.front()), moment, *write);
    closed_.pop_front();
  }
  lacks_room_ = !closed_.empty();
  const bool only_syncs = write->batches_.empty();
  if (only_syncs && (!sync || write->parts_.empty())) return nullptr;
  write->last_index_ = last_placed_;
  writing_ = true;
  return write;
}

// Whether the current segment takes a batch of so many bytes, perhaps after the spare has become
// the current one.
bool WriteAheadLog::make_room(std::uint64_t bytes) {
  const auto fits = [bytes](const Segment& segment) {
    return !segment.closed && segment.end + bytes <= segment.bytes;
  };
  if (fits(segments_.back())) return true;
  if (!spare_) return false;
  if (!fits(*spare_)) {
    wanted_spare_bytes_ = in_blocks(spare_->end + bytes);
    return false;
  }
  roll();
  return true;
}

// What waits and the record fit, whatever is split where, if one of the two takes them all. Before
// it is known whether there is a spare half of the current segment is kept: if there is none, what
// makes space again must still be written, and what compaction logs again.
WriteAheadLog::Room WriteAheadLog::room_for(std::uint64_t record_bytes) {
  const std::uint64_t bytes = waiting_bytes() + kBatchHeaderBytes + record_bytes;
  const Segment& last = segments_.back();
  const std::uint64_t kept = spare_ ? 0 : segment_bytes_ / 2;
  if (failure_ || (!last.closed && last.end + bytes + kept <= last.bytes)) return Room::kYes;
  if (spare_ && spare_->end + bytes <= spare_->bytes) return Room::kYes;
  if (!is_large(kBatchHeaderBytes + record_bytes)) return full_ ? Room::kNo : Room::kNotYet;
  const std::uint64_t wanted = in_blocks(kSegmentHeaderBytes + bytes + closing_bytes());
  if (full_ || (refuses_large() && wanted >= refused_bytes_)) return Room::kNo;
  wanted_spare_bytes_ = std::max(wanted_spare_bytes_, wanted);
  return Room::kNotYet;
}

void WriteAheadLog::forget_wishes() {
  if (newest() == last_placed_) wanted_spare_bytes_ = segment_bytes_;
}

void WriteAheadLog::try_again() {
  tries_again_ = true;
  refused_bytes_ = 0;
}

void WriteAheadLog::roll() {
  segments_bytes_ += in_blocks(spare_->bytes);
  segments_.push_back(std::move(*spare_));
  spare_.reset();
  wanted_spare_bytes_ = segment_bytes_;
}

void WriteAheadLog::place(Gathered gathered, const LogMoment& moment, LogWrite& write) {
  Segment& segment = segments_.back();
  if (!segment.has_header) begin_segment(segment, moment, write);
  Batch& batch = *gathered.batch;
  const BatchHeader header{
      .index = ++last_placed_, .term = 0, .cluster_time = moment.cluster, .wall_time = moment.wall};
  batch.seal(header, segment.salt, segment.end);
  add(write, segment, segment.end, batch.parts());
  segment.end += batch.bytes();
  segment.unsynced = true;
  segment.closed = is_large(batch.bytes());
  write.bytes += batch.bytes();
  write.record_count += batch.record_count();
  if (gathered.thought != segment.number) {
    write.moved.push_back({segment.number, batch.put_ids(), batch.paused_tubes()});
  }
  write.batches_.push_back(std::move(gathered.batch));
}

void WriteAheadLog::begin_segment(Segment& segment, const LogMoment& moment, LogWrite& write) {
  segment.has_header = true;
  write.synced = true;
  write.segment_headers_.push_back(encode_segment_header({.number = segment.number,
                                                          .first_index = last_placed_ + 1,
                                                          .last_id = moment.last_id,
                                                          .last_bury_order = moment.last_bury_order,
                                                          .cluster_time = moment.cluster,
                                                          .wall_time = moment.wall,
                                                          .salt = segment.salt}));
  const std::string_view header = write.segment_headers_.back();
  add(write, segment, 0, {header});
  write.bytes += header.size();
}

// What goes to one file is contiguous, and written by one call.
void WriteAheadLog::add(LogWrite& write, const Segment& segment, std::uint64_t at,
                        const std::vector<std::string_view>& bytes) {
  if (write.parts_.empty() || write.parts_.back().file != segment.file.get()) {
    write.parts_.push_back({.file = segment.file.get(), .at = at, .bytes = {}});
  }
  auto& all = write.parts_.back().bytes;
  all.insert(all.end(), bytes.begin(), bytes.end());
}

void WriteAheadLog::finish(std::unique_ptr<LogWrite> write) {
  CHECK(writing_);
  writing_ = false;
  for (auto& batch : write->batches_) {
    if (unused_.size() == kUnusedBatches || batch->bytes() > 2 * kClosingBytes) break;
    batch->clear();
    unused_.push_back(std::move(batch));
  }
  if (write->error) return fail(*write->error);
  if (!write->synced) return;
  durable_ = write->last_index_;
  for (auto segment = segments_.rbegin(); segment != segments_.rend() && segment->unsynced;
       ++segment) {
    segment->unsynced = false;
  }
}

// What was gathered will never be written.
void WriteAheadLog::fail(Error error) {
  if (!failure_) failure_ = std::move(error);
  open_ = {};
  closed_.clear();
  closed_bytes_ = 0;
  lacks_room_ = false;
}

std::uint64_t WriteAheadLog::sealed_bytes() const {
  const Segment& last = segments_.back();
  return segments_bytes_ - (last.closed ? 0 : in_blocks(last.bytes));
}

std::uint64_t WriteAheadLog::total_bytes() const {
  return segments_bytes_ + (spare_ ? in_blocks(spare_->bytes) : 0);
}

std::uint64_t WriteAheadLog::most_bytes() const {
  return segments_bytes_ + (spare_ ? in_blocks(spare_->bytes) : segment_bytes_);
}

std::uint64_t WriteAheadLog::room() const {
  const Segment& segment = segments_.back();
  const std::uint64_t used = segment.end + waiting_bytes();
  return used >= segment.bytes ? 0 : segment.bytes - used;
}

std::uint64_t WriteAheadLog::room_ahead() const {
  const std::uint64_t in_spare = spare_ ? spare_->bytes - spare_->end : 0;
  const Segment& last = segments_.back();
  return in_spare + (last.closed ? 0 : last.bytes - last.end);
}

std::optional<WriteAheadLog::Sealed> WriteAheadLog::sealed(std::size_t older) const {
  if (older >= segments_.size()) return std::nullopt;
  const Segment& segment = segments_[older];
  if (&segment == &segments_.back() && !segment.closed) return std::nullopt;
  return Sealed{segment.number, in_blocks(segment.bytes)};
}

bool WriteAheadLog::damaged_from(std::size_t older) const {
  if (damaged_count_ == 0 || older >= segments_.size()) return false;
  return std::any_of(segments_.begin() + static_cast<std::ptrdiff_t>(older), segments_.end(),
                     [](const Segment& segment) { return segment.damaged; });
}

void WriteAheadLog::remove_oldest(std::size_t count) {
  CHECK(removing_ == 0 && count < segments_.size());
  removing_ = count;
}

// Sealed segments whose unused end was not cut off yet: only the newest have an open file.
WriteAheadLog::Segment* WriteAheadLog::oldest_uncut() {
  Segment* uncut = nullptr;
  if (segments_.empty()) return uncut;
  for (auto segment = segments_.rbegin() + 1;
       segment != segments_.rend() && segment->file != nullptr; ++segment) {
    if (!segment->unsynced) uncut = &*segment;
  }
  return uncut;
}

// Asked in each turn, so nothing is made before there is something to do.
std::unique_ptr<LogChore> WriteAheadLog::begin_chore() {
  if (busy_ || failure_) return nullptr;
  if (removing_ != 0) return remove_segments();
  if (wants_spare()) return prepare_spare();
  Segment* const uncut = oldest_uncut();
  return uncut == nullptr ? nullptr : cut(*uncut);
}

std::unique_ptr<LogChore> WriteAheadLog::new_chore(LogChore::Kind kind, SegmentNumber number,
                                                   std::uint64_t bytes) {
  busy_ = true;
  auto chore = std::make_unique<LogChore>();
  chore->kind_ = kind;
  chore->directory_ = &directory_;
  chore->number_ = number;
  chore->bytes_ = bytes;
  return chore;
}

std::unique_ptr<LogChore> WriteAheadLog::remove_segments() {
  auto chore = new_chore(LogChore::Kind::kRemove, oldest(), 0);
  for (std::size_t i = 0; i < removing_; ++i) {
    chore->removals_.push_back({segments_[i].number, segments_[i].damaged});
  }
  return chore;
}

// A larger one that nobody wants any more shrinks, once nothing waits that might need it.
bool WriteAheadLog::wants_spare() const {
  if (!spare_) return !full_ || tries_again_;
  if (spare_->bytes > wanted_spare_bytes_) return newest() == last_placed_;
  const bool may_grow = !refuses_large() || wanted_spare_bytes_ < refused_bytes_;
  return spare_->bytes < wanted_spare_bytes_ && may_grow;
}

// A new one, which is like all others at first, or the one that there is grows or shrinks.
std::unique_ptr<LogChore> WriteAheadLog::prepare_spare() {
  const SegmentNumber number = spare_ ? spare_->number : last_number_ + 1;
  const std::uint64_t bytes = spare_ ? wanted_spare_bytes_ : segment_bytes_;
  auto chore = new_chore(LogChore::Kind::kPrepareSpare, number, bytes);
  if (spare_) {
    chore->file_ = std::move(spare_->file);
    chore->bytes_before_ = spare_->bytes;
  }
  spare_.reset();
  tries_again_ = false;
  return chore;
}

std::unique_ptr<LogChore> WriteAheadLog::cut(Segment& uncut) {
  auto chore = new_chore(LogChore::Kind::kTrim, uncut.number, uncut.end);
  chore->file_ = std::move(uncut.file);
  return chore;
}

void WriteAheadLog::finish(std::unique_ptr<LogChore> chore) {
  CHECK(busy_);
  busy_ = false;
  if (chore->error) return fail(*chore->error);
  switch (chore->kind_) {
    case LogChore::Kind::kPrepareSpare:
      return take_spare(*chore);
    case LogChore::Kind::kTrim: {
      const auto cut = std::ranges::find(segments_, chore->number_, &Segment::number);
      segments_bytes_ -= in_blocks(cut->bytes) - in_blocks(chore->bytes_);
      cut->bytes = chore->bytes_;
      return;
    }
    case LogChore::Kind::kRemove:
      for (; removing_ != 0; --removing_) {
        segments_bytes_ -= in_blocks(segments_.front().bytes);
        if (segments_.front().damaged) --damaged_count_;
        segments_.pop_front();
      }
      try_again();
      return;
  }
}

// If it could not grow, others go on with it as it was.
void WriteAheadLog::take_spare(LogChore& chore) {
  full_ = chore.file_ == nullptr;
  if (full_) return;
  const bool refused = chore.full_;
  if (refused) refused_bytes_ = chore.bytes_;
  if (refused) wanted_spare_bytes_ = segment_bytes_;
  last_number_ = chore.number_;
  spare_ = Segment{.number = chore.number_,
                   .bytes = refused ? chore.bytes_before_ : chore.bytes_,
                   .end = kSegmentHeaderBytes,
                   .salt = random_salt(),
                   .file = std::move(chore.file_),
                   .has_header = false};
}

}  // namespace xylem
