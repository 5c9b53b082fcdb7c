// Headers are read once, into the list; the cursor has one file open at a time. What a segment cuts
// off is known from the headers alone, before any batch is read.
#include "storage/log_cursor.h"

#include <fmt/format.h>

#include <algorithm>

namespace xylem {
namespace {

constexpr std::uint64_t kNowhere = std::numeric_limits<std::uint64_t>::max();

Result<LogSegment> look_at(Directory& directory, SegmentNumber number, Window::Memory& memory) {
  const std::string name = segment_name(number);
  auto file = directory.open(name);
  if (!file) return file.error();
  SegmentReader reader(*file.value(), memory);
  auto start = reader.start();
  if (!start) return start.error();
  LogSegment segment;
  segment.number = number;
  segment.file_bytes = start.value().file_bytes;
  segment.blank = start.value().blank;
  const auto& decoded = start.value().header;
  if (!decoded) return segment;
  if (decoded->format != kLogFormat) {
    return Error{fmt::format("{} has format {}, and this server knows format {} only",
                             directory.path_of(name), decoded->format, kLogFormat)};
  }
  if (decoded->header.number != number) {
    return Error{fmt::format("{} was written as {}: it is a copy, or was renamed",
                             directory.path_of(name), segment_name(decoded->header.number))};
  }
  segment.header = decoded->header;
  segment.half_header = decoded->damaged;
  return segment;
}

std::uint64_t offset_of(const SegmentReader::Item& item) {
  return std::visit([](const auto& one) { return one.at; }, item);
}

}  // namespace

Result<std::vector<LogSegment>> list_segments(Directory& directory) {
  auto names = directory.list();
  if (!names) return names.error();
  std::vector<SegmentNumber> numbers;
  for (const std::string& name : names.value()) {
    if (const auto number = segment_number(name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  std::vector<LogSegment> segments;
  Window::Memory memory;
  for (const SegmentNumber number : numbers) {
    auto segment = look_at(directory, number, memory);
    if (!segment) return segment.error();
    segments.push_back(segment.value());
  }
  BatchIndex cut = std::numeric_limits<BatchIndex>::max();
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    segment->cut = cut;
    if (segment->header) cut = std::min(cut, segment->header->first_index);
  }
  return segments;
}

LogCursor::LogCursor(Directory& directory, const std::vector<LogSegment>& segments)
    : directory_(directory), segments_(segments) {}

void LogCursor::seek(const Place& place) {
  segment_ = place.segment;
  begin_at_ = place.at;
  reader_ = nullptr;
}

Place LogCursor::place() const { return {segment_, offset_of(item_)}; }

Result<bool> LogCursor::next() {
  if (reader_ != nullptr && std::holds_alternative<SegmentReader::End>(item_)) {
    seek({segment_ + 1, kSegmentHeaderBytes});
  }
  while (reader_ == nullptr) {
    if (segment_ >= segments_.size()) return false;
    if (!segments_[segment_].readable()) {
      seek({segment_ + 1, kSegmentHeaderBytes});
      continue;
    }
    auto opened = open_segment();
    if (!opened) return opened.error();
  }
  auto item = reader_->next();
  if (!item) return item.error();
  item_ = item.value();
  obey_cut();
  return true;
}

Result<Done> LogCursor::open_segment() {
  auto file = directory_.open(segment_name(segments_[segment_].number));
  if (!file) return file.error();
  file_ = std::move(file).value();
  reader_ = std::make_unique<SegmentReader>(*file_, memory_);
  auto start = reader_->start();
  if (!start) return start.error();
  reader_->seek(begin_at_);
  stop_at_ = kNowhere;
  item_ = SegmentReader::Item();
  return Done{};
}

void LogCursor::obey_cut() {
  const BatchIndex cut = segments_[segment_].cut;
  if (offset_of(item_) >= stop_at_) {
    item_ = SegmentReader::End{stop_at_};
  } else if (const auto* batch = std::get_if<SegmentReader::Batch>(&item_)) {
    if (batch->header.index + 1 == cut) stop_at_ = batch->end();
    if (batch->header.index >= cut) item_ = SegmentReader::End{batch->at};
  }
}

}  // namespace xylem
