// The end of a log after a crash: where what counts ends, what of the rest verifies, and how that
// is put into a segment of its own (recovery.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "storage/log_cursor.h"
#include "xylem/core/record.h"
#include "xylem/storage/batch.h"
#include "xylem/storage/segment.h"

namespace xylem {

// The batch header with the highest index that verifies, which is the last one in the log.
struct LastBatch {
  Place place;
  SegmentReader::Batch batch;
  // Where the batch before it ends, or the segment's header. Its own place, if batches are missing
  // in between: then what lies there is damage, whatever becomes of this one.
  std::uint64_t begins_at = 0;
};

// What stands behind the last batch of which all verifies.
struct Tail {
  bool torn = false;
  Place place;           // where it begins
  Place end;             // behind all that was looked at; only zeros follow in that segment
  BatchIndex index = 1;  // of the batch that would stand there
  // Bytes that do not verify and may have been records.
  std::uint64_t lost_bytes = 0;
};

// `last` is none if no batch verifies.
Result<Tail> examine_tail(Directory& directory, const std::vector<LogSegment>& segments,
                          std::optional<LastBatch> last);

// Of so many bytes that do not verify, what may have been records: where a batch may begin, a
// header stands in front of them.
std::uint64_t without_header(std::uint64_t bytes);
// How many puts, with an id each, may have stood in so many bytes.
std::uint64_t puts_in(std::uint64_t bytes);

// Where a segment stands before it has its name. One that is found was never finished.
inline constexpr std::string_view kMendingName = "log.mending";

// Writes a segment with that header and those records, so that it is there whole or not at all.
// Takes records one by one, in batches that go on from the header's first index.
class Mender {
 public:
  Mender(Directory& directory, const SegmentHeader& header);

  Result<Done> begin();
  Result<Done> add(const Record& record);
  // Writes what is left, syncs, and gives the segment its name.
  Result<Done> finish();

  [[nodiscard]] std::uint64_t bytes() const { return at_; }
  // Of the last batch in it, or the one before its first.
  [[nodiscard]] BatchIndex last_index() const { return next_index_ - 1; }

 private:
  Result<Done> write_batch();

  Directory& directory_;
  SegmentHeader header_;
  std::unique_ptr<File> file_;
  Batch batch_;
  std::uint64_t at_ = 0;
  BatchIndex next_index_;
};

}  // namespace xylem
