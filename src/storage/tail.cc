// Looking at a tail reads it from the last batch on, whole records; mending is one file written in
// order. Neither changes what is there.
#include "storage/tail.h"

#include <algorithm>
#include <utility>

#include "xylem/storage/record_codec.h"

namespace xylem {
namespace {

constexpr std::uint64_t kBatchFullBytes = std::uint64_t{1} << 20;

Place beginning(const std::vector<LogSegment>& segments) {
  const auto first = std::ranges::find_if(segments, &LogSegment::readable);
  return {static_cast<std::size_t>(first - segments.begin()), kSegmentHeaderBytes};
}

Tail tail_behind(const std::vector<LogSegment>& segments, const std::optional<LastBatch>& last) {
  Tail tail;
  if (last) {
    tail.place = {last->place.segment, last->batch.end()};
    tail.index = last->batch.header.index + 1;
    return tail;
  }
  tail.place = beginning(segments);
  if (tail.place.segment < segments.size()) {
    tail.index = segments[tail.place.segment].header->first_index;
  }
  return tail;
}

// A segment is begun when all before it is on disk. So the last one that begins at the tail or
// later shows that the log had come so far, though none of its batches verifies: what is in front
// of it is no tail.
std::optional<std::size_t> begun_later(const std::vector<LogSegment>& segments, BatchIndex index) {
  std::optional<std::size_t> later;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const LogSegment& it = segments[i];
    if (it.readable() && !it.half_header && it.header->first_index >= index) later = i;
  }
  return later;
}

// A segment in which no batch verifies: what its header tells of the tail.
Result<Done> examine_header(Directory& directory, const LogSegment& segment, Tail& tail) {
  if (segment.blank) return Done{};
  if (segment.header) {
    const bool follows = segment.header->first_index == tail.index && !segment.half_header;
    tail.torn = tail.torn || (segment.readable() && !follows);
    return Done{};
  }
  auto file = directory.open(segment_name(segment.number));
  if (!file) return file.error();
  SegmentReader reader(*file.value());
  auto start = reader.start();
  if (!start) return start.error();
  auto end = reader.end_of_bytes(kSegmentHeaderBytes);
  if (!end) return end.error();
  tail.torn = true;
  tail.lost_bytes += without_header(end.value() - kSegmentHeaderBytes);
  return Done{};
}

Result<Done> examine_bytes(LogCursor& cursor, std::uint64_t batch_end, const Place& last_place,
                           Tail& tail, bool& batch_torn) {
  for (;;) {
    auto more = cursor.next();
    if (!more) return more.error();
    if (!more.value()) return Done{};
    const Place place = cursor.place();
    const bool in_batch = place.segment == last_place.segment && place.at < batch_end;
    std::uint64_t lost = 0;
    std::uint64_t end = 0;
    bool stray = false;
    if (const auto* gap = std::get_if<SegmentReader::Gap>(&cursor.item())) {
      lost = in_batch ? gap->bytes : without_header(gap->bytes);
      stray = true;
      end = gap->at + gap->bytes;
    } else if (const auto* head = std::get_if<SegmentReader::Head>(&cursor.item())) {
      auto record = cursor.record();
      if (!record) return record.error();
      if (!record.value()) lost = head->head.record_bytes();
      stray = !in_batch || !record.value();
      end = head->at + head->head.record_bytes();
    } else if (const auto* batch = std::get_if<SegmentReader::Batch>(&cursor.item())) {
      end = batch->end();
    }
    tail.end = std::max(tail.end, {place.segment, end});
    tail.lost_bytes += lost;
    tail.torn = tail.torn || stray;
    batch_torn = batch_torn || (stray && in_batch);
  }
}

}  // namespace

std::uint64_t without_header(std::uint64_t bytes) {
  return bytes - std::min<std::uint64_t>(bytes, kBatchHeaderBytes);
}

std::uint64_t puts_in(std::uint64_t bytes) { return bytes / kSmallestPutBytes; }

Result<Tail> examine_tail(Directory& directory, const std::vector<LogSegment>& segments,
                          std::optional<LastBatch> last) {
  Tail tail = tail_behind(segments, last);
  const std::optional<std::size_t> later = begun_later(segments, tail.index);
  if (later) {
    tail.place = {*later, kSegmentHeaderBytes};
    tail.index = segments[*later].header->first_index;
    last.reset();
  }
  bool batch_torn = false;
  LogCursor cursor(directory, segments);
  cursor.seek(last ? last->place : tail.place);
  const auto done = examine_bytes(cursor, last ? last->batch.end() : 0,
                                  last ? last->place : Place{}, tail, batch_torn);
  if (!done) return done.error();
  const std::size_t behind = last ? last->place.segment + 1 : later.value_or(0);
  for (std::size_t i = behind; i < segments.size(); ++i) {
    const auto examined = examine_header(directory, segments[i], tail);
    if (!examined) return examined.error();
  }
  if (batch_torn) {
    tail.place = {last->place.segment, last->begins_at};
    tail.index = last->batch.header.index;
  }
  tail.end = std::max(tail.end, tail.place);
  return tail;
}

Mender::Mender(Directory& directory, const SegmentHeader& header)
    : directory_(directory), header_(header), next_index_(header.first_index) {}

Result<Done> Mender::begin() {
  auto left_over = directory_.has(kMendingName);
  if (!left_over) return left_over.error();
  if (left_over.value()) {
    const auto removed = directory_.remove(kMendingName);
    if (!removed) return removed;
  }
  auto file = directory_.create(kMendingName);
  if (!file) return file.error();
  if (file.value() == nullptr) return Error{"no space to mend the end of the log"};
  file_ = std::move(file).value();
  const std::string header = encode_segment_header(header_);
  const std::string_view part = header;
  at_ = header.size();
  return file_->write(0, {&part, 1});
}

Result<Done> Mender::add(const Record& record) {
  batch_.append(record);
  return batch_.bytes() < kBatchFullBytes ? Done{} : write_batch();
}

Result<Done> Mender::write_batch() {
  if (batch_.empty()) return Done{};
  Batch batch = std::exchange(batch_, Batch());
  batch.seal({.index = next_index_++,
              .cluster_time = header_.cluster_time,
              .wall_time = header_.wall_time},
             header_.salt, at_);
  const std::uint64_t at = std::exchange(at_, at_ + batch.bytes());
  return file_->write(at, batch.parts());
}

Result<Done> Mender::finish() {
  for (const auto step :
       {+[](Mender& m) { return m.write_batch(); }, +[](Mender& m) { return m.file_->sync(); },
        +[](Mender& m) {
          return m.directory_.rename(kMendingName, segment_name(m.header_.number));
        },
        +[](Mender& m) { return m.directory_.sync(); }}) {
    auto done = step(*this);
    if (!done) return done;
  }
  return Done{};
}

}  // namespace xylem
