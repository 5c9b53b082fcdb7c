// LogBuilder: writes a log, segment by segment, and remembers where each record stands, so that a
// test can say what a reader must find after any damage to it. The server's own writer is another;
// this one does what it is told, also what no server does.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/memory_disk.h"
#include "support/samples.h"
#include "xylem/storage/batch.h"
#include "xylem/storage/recovery.h"
#include "xylem/storage/segment.h"

namespace xylem::test {

struct Written {
  SegmentNumber segment = 0;
  std::uint64_t at = 0;
  std::uint64_t end = 0;
  std::string text;
  JobId id = 0;
  bool is_delete = false;
  bool is_id_note = false;
};

class LogBuilder {
 public:
  // Its first index is the next batch's, its salt its number times a prime.
  LogBuilder& segment(std::optional<SegmentNumber> number = {});
  LogBuilder& batch(const std::vector<Record>& records);
  LogBuilder& bytes(std::string_view any);
  LogBuilder& zeros(std::size_t count) { return bytes(std::string(count, '\0')); }
  // The next batch gets this index.
  LogBuilder& index(BatchIndex next) {
    next_index_ = next;
    return *this;
  }

  [[nodiscard]] std::unique_ptr<MemoryDisk> disk() const;
  [[nodiscard]] std::string& last_bytes() { return files_.back().second; }
  [[nodiscard]] const std::vector<Written>& written() const { return written_; }
  [[nodiscard]] std::uint64_t last_salt() const { return header_.salt; }

  // What a reader hands out if it cannot read the records of these indexes (of written()).
  [[nodiscard]] std::vector<std::string> expected(const std::set<std::size_t>& lost = {}) const;

 private:
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<Written> written_;
  SegmentHeader header_;
  BatchIndex next_index_ = 1;
};

// A log with all types of records, in three segments: zeros behind the second and third.
LogBuilder small_log();

// Takes everything, as text.
class Listener final : public RecordSink {
 public:
  void take(const Record& record, SegmentNumber segment, Time now) override;
  void progress(std::uint64_t bytes_read, std::uint64_t bytes_total) override;

  std::vector<std::string> texts;
  std::vector<SegmentNumber> segments;
  std::vector<Time> times;
  std::vector<BufferRef> buffers;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_total = 0;
};

struct Outcome {
  Recovered found;
  Listener heard;
};

// Recovery must succeed: throws if it does not.
Outcome recovered(Directory& disk, bool read_only = false);

}  // namespace xylem::test
