// IdMark: the highest id that may have been given, while the items of a log are read in order.
//
// A put that does not verify may have had an id higher than all before it, and somebody may have
// seen that id. So the mark goes up by the records that a batch's header counts and nobody found;
// where the header is lost too, by the smallest puts that fit. A later segment's header knows which
// ids were given before it, and needs no such guess. Nor does what lies behind the last batch: that
// is a torn tail (tail.h), or nothing.
#pragma once

#include <cstdint>

#include "storage/segment_reader.h"
#include "xylem/core/ids.h"
#include "xylem/storage/segment.h"

namespace xylem {

class IdMark {
 public:
  // The next items are those of the segment with this header.
  void begin(const SegmentHeader& header);
  void see(const SegmentReader::Item& item);
  [[nodiscard]] JobId highest() const;

 private:
  void see_batch(const SegmentReader::Batch& batch);
  void see_head(const SegmentReader::Head& head);
  void see_gap(const SegmentReader::Gap& gap);
  [[nodiscard]] JobId guessed() const;

  JobId known_ = 0;     // in a record, a note or a header
  JobId possible_ = 0;  // lost before the batch that was seen last
  JobId pending_ = 0;   // lost behind that batch: counts once another one follows
  SegmentReader::Batch batch_;
  std::uint32_t missing_count_ = 0;  // of the batch's records, not found so far
  JobId before_gap_ = 0;             // the mark at the last gap in the batch
};

}  // namespace xylem
