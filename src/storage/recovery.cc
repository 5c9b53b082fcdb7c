// The order of things: headers of all segments; heads of all records; the tail; then the records,
// which is where damage is found; last the records of a torn tail, while it is mended.
#include "xylem/storage/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/checksum.h"
#include "storage/id_mark.h"
#include "storage/id_set.h"
#include "storage/log_cursor.h"
#include "storage/tail.h"
#include "xylem/core/command.h"

namespace xylem {
namespace {

// Between two reports of progress.
constexpr std::uint64_t kReportBytes = std::uint64_t{8} << 20;

class Recovery {
 public:
  Recovery(Directory& directory, RecordSink& sink, bool read_only)
      : directory_(directory), sink_(sink), read_only_(read_only) {}

  Result<Recovered> run();

 private:
  Result<Done> list();
  Result<Done> find_next_number();
  void note(const SegmentHeader& header);
  Result<Done> read_heads();
  void see_batch(const Place& place, const SegmentReader::Batch& batch);
  Result<Done> look_at_tail();
  Result<Done> hand_out();
  Result<Done> mend();
  void conclude();

  // Of hand_out().
  Result<Done> take(LogCursor& cursor);
  Result<Done> take_head(LogCursor& cursor, const RecordHead& head);
  void take_batch(const Place& place, const BatchHeader& header);
  void begin_segment(std::size_t segment);
  void begin_unreadable(std::size_t segment);
  void deliver(const Record& record, SegmentNumber number);
  [[nodiscard]] bool is_wanted(const RecordHead& head);

  // Of mend().
  [[nodiscard]] bool nothing_readable() const { return tail_.place.segment == segments_.size(); }
  [[nodiscard]] SegmentHeader mended_header() const;
  Result<Done> cut(const Place& end);
  Result<Done> take_tail(Mender* mender);
  Result<Done> drop_tail();
  [[nodiscard]] bool survives(std::size_t segment) const;

  void tell_damage(std::size_t segment, std::string_view what);
  void tell_missing(std::size_t segment, std::string_view where, BatchIndex before);
  void report(const Place& place);
  [[nodiscard]] std::string path(std::size_t segment) const;

  Directory& directory_;
  RecordSink& sink_;
  const bool read_only_;
  Recovered found_;

  std::vector<LogSegment> segments_;
  std::vector<std::uint64_t> ends_;  // of what counts in each segment
  std::vector<bool> damaged_;
  IdSet dead_;
  std::optional<LastBatch> last_;
  Tail tail_;
  std::optional<FoundSegment> mended_;

  std::size_t next_segment_ = 0;  // that begin_segment() is to see
  bool begun_ = false;            // some segment has told which index to expect
  BatchIndex expected_ = 1;
  bool told_ = false;  // why the next batch may have another index
  Time now_{};         // of the batch that is being read

  std::uint64_t bytes_total_ = 0;   // of both walks
  std::uint64_t bytes_before_ = 0;  // of what was read before the place's segment
  std::size_t segment_read_ = 0;
  std::uint64_t reported_ = 0;
};

Result<Recovered> Recovery::run() {
  for (const auto step : {&Recovery::list, &Recovery::find_next_number, &Recovery::read_heads,
                          &Recovery::look_at_tail, &Recovery::hand_out, &Recovery::mend}) {
    const auto done = (this->*step)();
    if (!done) return done.error();
  }
  conclude();
  return std::move(found_);
}

Result<Done> Recovery::list() {
  auto segments = list_segments(directory_);
  if (!segments) return segments.error();
  segments_ = std::move(segments).value();
  ends_.resize(segments_.size());
  damaged_.resize(segments_.size());
  for (const LogSegment& segment : segments_) {
    bytes_total_ += 2 * segment.file_bytes;
    if (segment.header) note(*segment.header);
  }
  return Done{};
}

void Recovery::note(const SegmentHeader& header) {
  found_.last_id = std::max(found_.last_id, header.last_id);
  found_.last_bury_order = std::max(found_.last_bury_order, header.last_bury_order);
  if (header.cluster_time < found_.cluster_time) return;
  found_.cluster_time = header.cluster_time;
  found_.wall_time = header.wall_time;
}

// A number that was given is not given again, not even if its segment was set aside.
Result<Done> Recovery::find_next_number() {
  auto names = directory_.list();
  if (!names) return names.error();
  for (const std::string_view name : names.value()) {
    const auto number = segment_number(name.substr(0, name.find(".damaged")));
    if (number) found_.next_number = std::max(found_.next_number, *number + 1);
  }
  return Done{};
}

Result<Done> Recovery::read_heads() {
  LogCursor cursor(directory_, segments_);
  IdMark mark;
  std::size_t begun = 0;
  for (;;) {
    auto more = cursor.next();
    if (!more) return more.error();
    if (!more.value()) break;
    for (; begun <= cursor.place().segment; ++begun) {
      if (segments_[begun].readable()) mark.begin(*segments_[begun].header);
    }
    mark.see(cursor.item());
    if (const auto* item = std::get_if<SegmentReader::Head>(&cursor.item())) {
      if (item->head.is_delete()) dead_.add(item->head.id);
    } else if (const auto* batch = std::get_if<SegmentReader::Batch>(&cursor.item())) {
      see_batch(cursor.place(), *batch);
      report(cursor.place());
    }
  }
  dead_.finish();
  found_.last_id = std::max(found_.last_id, mark.highest());
  if (last_ && last_->batch.header.cluster_time >= found_.cluster_time) {
    found_.cluster_time = last_->batch.header.cluster_time;
    found_.wall_time = last_->batch.header.wall_time;
  }
  return Done{};
}

void Recovery::see_batch(const Place& place, const SegmentReader::Batch& batch) {
  const bool is_first = !last_ || last_->place.segment != place.segment;
  const BatchIndex next =
      is_first ? segments_[place.segment].header->first_index : last_->batch.header.index + 1;
  const std::uint64_t before = is_first ? kSegmentHeaderBytes : last_->batch.end();
  last_ = LastBatch{place, batch, batch.header.index == next ? before : place.at};
}

Result<Done> Recovery::look_at_tail() {
  auto tail = examine_tail(directory_, segments_, last_);
  if (!tail) return tail.error();
  tail_ = tail.value();
  found_.last_id += puts_in(tail_.lost_bytes);
  found_.last_index = tail_.index - 1;
  bytes_before_ = bytes_total_ / 2;
  segment_read_ = 0;
  return Done{};
}

Result<Done> Recovery::hand_out() {
  LogCursor cursor(directory_, segments_);
  for (;;) {
    auto more = cursor.next();
    if (!more) return more.error();
    if (!more.value()) return Done{};
    const Place place = cursor.place();
    for (; next_segment_ <= place.segment; ++next_segment_) begin_segment(next_segment_);
    if (tail_.torn && place >= tail_.place) {
      tell_missing(place.segment, fmt::format("before {}", place.at), tail_.index);
      return Done{};
    }
    const auto done = take(cursor);
    if (!done) return done;
  }
}

Result<Done> Recovery::take(LogCursor& cursor) {
  const Place place = cursor.place();
  if (const auto* head = std::get_if<SegmentReader::Head>(&cursor.item())) {
    return take_head(cursor, head->head);
  }
  if (const auto* batch = std::get_if<SegmentReader::Batch>(&cursor.item())) {
    take_batch(place, batch->header);
  } else if (const auto* gap = std::get_if<SegmentReader::Gap>(&cursor.item())) {
    tell_damage(place.segment, fmt::format("{} bytes at {} do not verify", gap->bytes, gap->at));
    told_ = true;
  } else {
    ends_[place.segment] = place.at;
  }
  return Done{};
}

bool Recovery::is_wanted(const RecordHead& head) {
  return !head.is_delete() && !head.is_id_note() && !dead_.contains(head.id);
}

Result<Done> Recovery::take_head(LogCursor& cursor, const RecordHead& head) {
  const bool wanted = is_wanted(head);
  if (!wanted && !read_only_) return Done{};
  auto record = cursor.record();
  if (!record) return record.error();
  const Place place = cursor.place();
  if (const auto& verified = record.value()) {
    if (wanted) deliver(*verified, segments_[place.segment].number);
  } else {
    tell_damage(place.segment,
                fmt::format("{} bytes at {} do not verify", head.record_bytes(), place.at));
  }
  return Done{};
}

void Recovery::deliver(const Record& record, SegmentNumber number) {
  if (const auto* put = std::get_if<PutRecord>(&record)) {
    found_.last_bury_order = std::max(found_.last_bury_order, put->bury_order);
  } else if (const auto* bury = std::get_if<BuryRecord>(&record)) {
    found_.last_bury_order = std::max(found_.last_bury_order, bury->bury_order);
  }
  ++found_.record_count;
  sink_.take(record, number, now_);
}

void Recovery::take_batch(const Place& place, const BatchHeader& header) {
  tell_missing(place.segment, fmt::format("before {}", place.at), header.index);
  expected_ = header.index + 1;
  now_ = header.cluster_time;
  report(place);
}

void Recovery::begin_segment(std::size_t segment) {
  const LogSegment& it = segments_[segment];
  if (!it.header && !it.blank) return begin_unreadable(segment);
  if (!it.tells_index()) return;
  if (it.half_header && survives(segment)) {
    tell_damage(segment, "one of its two headers does not verify");
  }
  if (begun_) tell_missing(segment, "before it", it.header->first_index);
  expected_ = it.header->first_index;
  begun_ = true;
}

// Nothing of it can be read. It is part of a torn tail that was mended since, unless batches are
// missing.
void Recovery::begin_unreadable(std::size_t segment) {
  const auto next = std::find_if(segments_.begin() + static_cast<std::ptrdiff_t>(segment),
                                 segments_.end(), [](const auto& s) { return s.readable(); });
  begun_ = true;
  if (next->header->first_index == expected_) return;
  tell_damage(segment, "neither of its two headers verifies, so nothing in it can be read");
  ends_[segment] = segments_[segment].file_bytes;
  told_ = true;
}

void Recovery::tell_damage(std::size_t segment, std::string_view what) {
  found_.damage.push_back({fmt::format("{}: {}", path(segment), what)});
  damaged_[segment] = true;
}

// Unless what lies before has already told of damage.
void Recovery::tell_missing(std::size_t segment, std::string_view where, BatchIndex before) {
  if (before > expected_ && !told_) {
    tell_damage(segment,
                fmt::format("batches {} to {} are missing {}", expected_, before - 1, where));
  }
  told_ = false;
}

std::string Recovery::path(std::size_t segment) const {
  return directory_.path_of(segment_name(segments_[segment].number));
}

void Recovery::report(const Place& place) {
  for (; segment_read_ < place.segment; ++segment_read_) {
    bytes_before_ += segments_[segment_read_].file_bytes;
  }
  const std::uint64_t bytes_read = bytes_before_ + place.at;
  if (bytes_read < reported_ + kReportBytes) return;
  reported_ = bytes_read;
  sink_.progress(bytes_read, bytes_total_);
}

Result<Done> Recovery::mend() {
  if (!tail_.torn) return Done{};
  if (nothing_readable()) {
    found_.torn_tail = "no segment of the log has a header that verifies: the log begins anew";
    return Done{};
  }
  const std::uint64_t count_before = found_.record_count;
  const SegmentHeader header = mended_header();
  Mender mender(directory_, header);
  if (!read_only_) {
    // The copies need room, which a full disk has only there: the zeros behind the tail.
    auto done = cut(tail_.end);
    if (done) done = mender.begin();
    if (done) done = take_tail(&mender);
    if (done) done = mender.finish();
    if (done) done = drop_tail();
    if (!done) return done;
    mended_ = FoundSegment{header.number, mender.bytes(), mender.bytes(), header.salt, false};
    found_.last_index = mender.last_index();
    ++found_.next_number;
  } else {
    const auto done = take_tail(nullptr);
    if (!done) return done;
  }
  found_.torn_tail = fmt::format(
      "{}: what is behind {} was not written whole; {} records of it were kept, {} bytes do not "
      "verify",
      path(tail_.place.segment), tail_.place.at, found_.record_count - count_before,
      tail_.lost_bytes);
  return Done{};
}

SegmentHeader Recovery::mended_header() const {
  // A secret as good as the one it is made from, and another.
  const std::uint64_t salt =
      check64("mended", segments_[tail_.place.segment].header->salt + found_.next_number);
  return {.number = found_.next_number,
          .first_index = tail_.index,
          .last_id = found_.last_id,
          .last_bury_order = found_.last_bury_order,
          .cluster_time = found_.cluster_time,
          .wall_time = found_.wall_time,
          .salt = salt};
}

// The segment ends there, if it has not ended before.
Result<Done> Recovery::cut(const Place& end) {
  LogSegment& segment = segments_[end.segment];
  if (segment.file_bytes <= end.at) return Done{};
  auto file = directory_.open(segment_name(segment.number));
  if (!file) return file.error();
  segment.file_bytes = end.at;
  return file.value()->truncate(segment.file_bytes);
}

// Hands out the records of the tail as those of the mended segment, and copies them into it.
Result<Done> Recovery::take_tail(Mender* mender) {
  LogCursor cursor(directory_, segments_);
  cursor.seek(tail_.place);
  for (;;) {
    auto more = cursor.next();
    if (!more) return more.error();
    if (!more.value()) return Done{};
    if (const auto* batch = std::get_if<SegmentReader::Batch>(&cursor.item())) {
      now_ = batch->header.cluster_time;
    }
    const auto* item = std::get_if<SegmentReader::Head>(&cursor.item());
    if (item == nullptr) continue;
    auto record = cursor.record();
    if (!record) return record.error();
    const auto& verified = record.value();
    if (!verified) continue;
    if (is_wanted(item->head)) deliver(*verified, found_.next_number);
    if (mender == nullptr) continue;
    const auto done = mender->add(*verified);
    if (!done) return done;
  }
}

// What survives of the segment in which the tail begins ends there. Nothing depends on it: the tail
// is cut off already.
Result<Done> Recovery::drop_tail() {
  return survives(tail_.place.segment) ? cut(tail_.place) : Done{};
}

// Whether something in the segment counts, once the tail is mended.
bool Recovery::survives(std::size_t segment) const {
  const LogSegment& it = segments_[segment];
  if (damaged_[segment]) return true;
  if (!it.readable()) return false;
  return !tail_.torn || it.header->first_index < tail_.index;
}

void Recovery::conclude() {
  if (tail_.torn && !nothing_readable()) ends_[tail_.place.segment] = tail_.place.at;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const LogSegment& segment = segments_[i];
    if (survives(i)) {
      found_.segments.push_back({segment.number, segment.file_bytes, ends_[i],
                                 segment.header ? segment.header->salt : 0, damaged_[i]});
    } else if (!segment.blank && !segment.header) {
      found_.unreadable.push_back(segment.number);
    } else {
      found_.spares.push_back(segment.number);
    }
  }
  if (mended_) found_.segments.push_back(*mended_);
}

}  // namespace

Result<Recovered> recover(Directory& directory, RecordSink& sink, bool read_only) {
  return Recovery(directory, sink, read_only).run();
}

}  // namespace xylem
