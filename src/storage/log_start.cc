// What blocks: the start goes on where recovery ended, the stop gives back what is not used. Both
// run while nobody is served, so tasks are run in place. A start always has a segment to write to
// and room in it, or it is an error.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "storage/salt.h"
#include "xylem/storage/log.h"

namespace xylem {

Result<std::unique_ptr<WriteAheadLog>> WriteAheadLog::open(Directory& directory,
                                                           std::uint64_t segment_bytes,
                                                           const Recovered& found) {
  std::unique_ptr<WriteAheadLog> log(new WriteAheadLog(directory, segment_bytes, found));
  if (auto started = log->start(found); !started) return started.error();
  return log;
}

WriteAheadLog::WriteAheadLog(Directory& directory, std::uint64_t segment_bytes,
                             const Recovered& found)
    : directory_(directory),
      segment_bytes_(in_blocks(segment_bytes)),
      wanted_spare_bytes_(segment_bytes_),
      last_placed_(found.last_index),
      position_(found.last_index),
      durable_(found.last_index) {}

Result<Done> WriteAheadLog::start(const Recovered& found) {
  last_number_ = found.next_number - 1;
  for (const SegmentNumber spare : found.spares) {
    if (auto removed = directory_.remove(segment_name(spare)); !removed) return removed;
  }
  for (const SegmentNumber number : found.unreadable) {
    auto aside = directory_.rename(segment_name(number), damaged_name(number));
    if (!aside) return aside;
  }
  for (const FoundSegment& segment : found.segments) {
    if (segment.damaged) ++damaged_count_;
    segments_bytes_ += in_blocks(segment.bytes);
    segments_.push_back({.number = segment.number,
                         .bytes = segment.bytes,
                         .end = segment.end,
                         .salt = segment.salt,
                         .damaged = segment.damaged});
  }
  if (auto synced = sync_newest(); !synced) return synced;
  if (!found.segments.empty() && !found.segments.back().damaged) {
    if (auto on = go_on_in(segments_.back()); !on) return on;
  }
  return prepare_first_spares();
}

// What was read may not be on disk yet, after a kill: it counts as durable from now on. Older
// segments were synced before these were begun.
Result<Done> WriteAheadLog::sync_newest() {
  const std::size_t count = std::min<std::size_t>(segments_.size(), 2);
  for (std::size_t i = segments_.size() - count; i < segments_.size(); ++i) {
    auto file = directory_.open(segment_name(segments_[i].number));
    if (!file) return file.error();
    if (auto synced = file.value()->sync(); !synced) return synced;
  }
  return directory_.sync();
}

// Where the disk has no room for the rest of a segment that a stop has cut, nothing could be
// recorded, not even deletes that make room: better not to start.
Result<Done> WriteAheadLog::go_on_in(Segment& last) {
  auto file = directory_.open(segment_name(last.number));
  if (!file) return file.error();
  last.file = std::move(file).value();
  if (last.bytes > segment_bytes_) {
    last.closed = true;
    return Done{};
  }
  auto allocated = last.file->allocate(segment_bytes_);
  if (!allocated) return allocated.error();
  if (!allocated.value()) return no_space();
  segments_bytes_ += segment_bytes_ - in_blocks(last.bytes);
  last.bytes = segment_bytes_;
  return last.file->sync();
}

Error WriteAheadLog::no_space() const {
  return {fmt::format("{}: no space for a log segment of {} bytes", directory_.path_of(""),
                      segment_bytes_)};
}

// A log needs a segment to begin with, and then one to spare.
Result<Done> WriteAheadLog::prepare_first_spares() {
  while (std::unique_ptr<LogChore> chore = begin_chore()) {
    chore->run();
    finish(std::move(chore));
    if (failure_) return *failure_;
    const bool has_current = !segments_.empty() && !segments_.back().damaged;
    if (has_current) continue;
    if (!spare_) return no_space();
    roll();
  }
  return Done{};
}

// The current segment stays, if it was ever written to; the next start goes on in it.
Result<Done> WriteAheadLog::close() {
  CHECK(!writing_ && !busy_);
  if (spare_) {
    spare_->file.reset();
    if (auto removed = directory_.remove(segment_name(spare_->number)); !removed) return removed;
  }
  Segment& last = segments_.back();
  if (!last.has_header) {
    last.file.reset();
    if (auto removed = directory_.remove(segment_name(last.number)); !removed) return removed;
  } else if (last.file != nullptr) {
    if (auto cut = last.file->truncate(last.end); !cut) return cut;
    if (auto synced = last.file->sync(); !synced) return synced;
  }
  return directory_.sync();
}

}  // namespace xylem
