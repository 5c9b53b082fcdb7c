// Recovery: what a start reads. Two walks over the segments: the first looks at heads only and
// gathers the ids that were deleted, so that the second, which hands out the records in their
// order, never loads a job that is dead.
//
// Cases, and what is done about each (docs/disk-format.md):
//  - A segment of zeros (allocated, never written): told as a spare, to be removed.
//  - Bytes that do not verify, and a batch with a higher index follows, in this segment or a later
//    one: damage. Counted and told; the reader goes on at the next record or batch that verifies.
//  - Batches that are missing, and one with a higher index is there: damage too.
//  - Bytes that do not verify, with no batch of a higher index behind: a torn tail. What verifies
//    in it is kept.
//  - A segment whose header does not verify (both copies): none of it can be read. Damage if a
//    later segment shows that batches are missing, else part of the torn tail, or of an earlier
//    one.
//  - No segment at all: a log that begins.
//
// A torn tail is mended without writing over anything: what was kept goes into a segment of its
// own, whose first index cuts off the tail. It is written under another name and synced, then
// renamed, so it is there whole or not at all, and a power cut at any step leaves a log that reads
// the same. Its header says that the ids are given that may have stood in what was lost.
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
  std::uint64_t end = 0;    // where the last batch ends; only zeros follow
  std::uint64_t salt = 0;
  bool damaged = false;  // to be set aside, when it is the oldest, instead of removed
};

// One finding, for the operator: a sentence with file and offset.
struct Damage {
  std::string text;
};

struct Recovered {
  std::vector<FoundSegment> segments;  // oldest first; the log goes on in the last
  // Never written to, or nothing in them counts: to be removed.
  std::vector<SegmentNumber> spares;
  // Their header cannot be read, so nothing in them can: to be set aside.
  std::vector<SegmentNumber> unreadable;
  SegmentNumber next_number = 1;  // higher than any there, also of those set aside
  BatchIndex last_index = 0;
  Time cluster_time{};  // of the last batch, or of the newest header
  Time wall_time{};
  JobId last_id = 0;  // ids up to here count as given
  std::uint64_t last_bury_order = 0;
  std::uint64_t record_count = 0;  // handed out
  std::vector<Damage> damage;
  std::string torn_tail;  // a sentence, or empty
};

// Who takes the records; called in their order, with the cluster time of their batch (or of the one
// before, if the header of theirs is lost). Deletes, records of jobs that are deleted later, and id
// notes are not handed out.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void take(const Record& record, SegmentNumber segment, Time now) = 0;
  // Now and then, for who waits: bytes read of all that there are to read.
  virtual void progress(std::uint64_t bytes_read, std::uint64_t bytes_total) = 0;
};

// Changes the directory only to mend a torn tail. If `read_only` (--check-log) not even that; then
// the records of dead jobs are verified too.
// Errors: the disk failed or is too full to mend, or the log is of a format that we do not know.
Result<Recovered> recover(Directory& directory, RecordSink& sink, bool read_only);

}  // namespace xylem
