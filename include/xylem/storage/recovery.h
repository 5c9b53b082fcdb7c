// Recovery: what a start reads. Two walks over the segments: the first looks at heads only and
// gathers the ids that were deleted, so that the second, which hands out the records in their
// order, never loads a job that is dead.
//
// Cases, and what is done about each (docs/disk-format.md):
//  - A segment of zeros (allocated, never written): told as a spare, to be removed.
//  - Bytes that do not verify, and a batch with a higher index follows, in this segment or a later
//    one: damage. Counted and told; the reader goes on at the next record or batch that verifies.
//    Bytes behind the last batch of a segment are damage only if an index is missing: a start may
//    have gone on in the next segment.
//  - Bytes that do not verify, with no batch of a higher index behind: a torn tail. What verifies
//  in
//    it is kept. The tail is rewritten as one batch that holds the records that were kept and an id
//    note, zeros behind it, and synced, before anything else is written.
//  - A segment whose header does not verify (both copies): all of it is damage.
//  - No segment at all: a log that begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xylem/core/record.h"
#include "xylem/storage/file.h"
#include "xylem/storage/segment.h"

namespace xylem {

// What the log goes on with.
struct FoundSegment {
  SegmentNumber number = 0;
  std::uint64_t bytes = 0;  // of the file
  std::uint64_t end = 0;    // where the last batch ends
  std::uint64_t salt = 0;
  bool damaged = false;  // to be set aside once its live records are logged again
};

// One finding, for the operator: a sentence with file and offset.
struct Damage {
  std::string text;
};

struct Recovered {
  std::vector<FoundSegment> segments;  // oldest first; without spares
  std::vector<SegmentNumber> spares;   // to be removed
  BatchIndex last_index = 0;
  Time cluster_time{};  // of the last batch, or of the newest header
  Time wall_time{};
  JobId last_id = 0;  // ids up to here count as given
  std::uint64_t last_bury_order = 0;
  std::uint64_t record_count = 0;  // handed out
  std::vector<Damage> damage;
  std::string torn_tail;  // a sentence, or empty
};

// Who takes the records; called in their order, with the cluster time of their batch.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void take(const Record& record, SegmentNumber segment, Time now) = 0;
  // Now and then, for who waits: bytes read of all that there are to read.
  virtual void progress(std::uint64_t bytes_read, std::uint64_t bytes_total) = 0;
};

// Changes the directory only to mend a torn tail, and not even that if `read_only` (--check-log).
// Errors: the disk failed, or the log is of a format that we do not know.
Result<Recovered> recover(Directory& directory, RecordSink& sink, bool read_only);

}  // namespace xylem
