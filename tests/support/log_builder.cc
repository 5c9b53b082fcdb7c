// Records are found again in a batch's bytes by their heads' lengths; that is all this knows of the
// format.
#include "support/log_builder.h"

#include <algorithm>
#include <stdexcept>

#include "xylem/core/command.h"
#include "xylem/storage/record_codec.h"

namespace xylem::test {
namespace {

JobId id_of(const Record& record) {
  return std::visit(overloaded{[](const PauseRecord&) { return JobId{0}; },
                               [](const FlushRecord&) { return JobId{0}; },
                               [](const auto& one) { return one.id; }},
                    record);
}

Time at(std::uint64_t ticks) { return Time(Duration(static_cast<std::int64_t>(ticks))); }

}  // namespace

LogBuilder& LogBuilder::segment(std::optional<SegmentNumber> number) {
  header_.number = number.value_or(header_.number + 1);
  header_.first_index = next_index_;
  header_.salt = header_.number * 0x9e3779b97f4a7c15;
  header_.cluster_time = at(1'000 * next_index_);
  header_.wall_time = at(2'000 * next_index_);
  files_.emplace_back(segment_name(header_.number), encode_segment_header(header_));
  return *this;
}

LogBuilder& LogBuilder::batch(const std::vector<Record>& records) {
  Batch batch;
  std::uint64_t end = last_bytes().size() + kBatchHeaderBytes;
  for (const Record& record : records) {
    const std::uint64_t start = end;
    const std::uint64_t before = batch.bytes();
    batch.append(record);
    end += batch.bytes() - before;
    header_.last_id = std::max(header_.last_id, id_of(record));
    written_.push_back({header_.number, start, end, text_of(record), id_of(record),
                        std::holds_alternative<DeleteRecord>(record),
                        std::holds_alternative<IdNote>(record)});
  }
  batch.seal({.index = next_index_,
              .cluster_time = at(1'000 * next_index_ + 500),
              .wall_time = at(2'000 * next_index_ + 500)},
             header_.salt, last_bytes().size());
  ++next_index_;
  for (const std::string_view part : batch.parts()) last_bytes() += part;
  return *this;
}

LogBuilder& LogBuilder::bytes(std::string_view any) {
  last_bytes() += any;
  return *this;
}

std::unique_ptr<MemoryDisk> LogBuilder::disk() const {
  auto disk = std::make_unique<MemoryDisk>();
  for (const auto& [name, contents] : files_) disk->put(name, contents);
  return disk;
}

std::vector<std::string> LogBuilder::expected(const std::set<std::size_t>& lost) const {
  std::set<JobId> dead;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (written_[i].is_delete && !lost.contains(i)) dead.insert(written_[i].id);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const Written& it = written_[i];
    if (lost.contains(i) || it.is_delete || it.is_id_note || dead.contains(it.id)) continue;
    texts.push_back(it.text);
  }
  return texts;
}

LogBuilder small_log() {
  const std::vector<Record> samples = sample_records();
  const auto some = [&](std::size_t from, std::size_t to) {
    return std::vector<Record>(samples.begin() + static_cast<std::ptrdiff_t>(from),
                               samples.begin() + static_cast<std::ptrdiff_t>(to));
  };
  LogBuilder log;
  log.segment(3).batch(some(0, 2)).batch(some(2, 5));
  log.segment().batch(some(5, 6)).batch(some(6, 12)).zeros(100);
  log.segment().batch(some(12, samples.size()));
  log.batch({KickRecord{2}, DeleteRecord{4}, BuryRecord{1, 2, 3}});
  return log.zeros(300);
}

void Listener::take(const Record& record, SegmentNumber segment, Time now) {
  texts.push_back(text_of(record));
  segments.push_back(segment);
  times.push_back(now);
  if (const auto* put = std::get_if<PutRecord>(&record)) buffers.emplace_back(put->buffer);
}

void Listener::progress(std::uint64_t read, std::uint64_t total) {
  bytes_read = read;
  bytes_total = total;
}

Outcome recovered(Directory& disk, bool read_only) {
  Outcome outcome;
  auto found = recover(disk, outcome.heard, read_only);
  if (!found) throw std::runtime_error(found.error().text);
  outcome.found = std::move(found).value();
  return outcome;
}

}  // namespace xylem::test
