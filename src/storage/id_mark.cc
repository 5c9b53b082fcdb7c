// Guesses add up: what is lost behind a guess comes on top of it. A guess inside a batch is settled
// when the next item shows that the batch is over; until then more of its records may be found.
#include "storage/id_mark.h"

#include <algorithm>

#include "storage/tail.h"
#include "xylem/core/command.h"

namespace xylem {

JobId IdMark::highest() const { return std::max(known_, possible_); }

JobId IdMark::guessed() const {
  const JobId in_batch = missing_count_ == 0 ? 0 : before_gap_ + missing_count_;
  return std::max({highest(), pending_, in_batch});
}

void IdMark::begin(const SegmentHeader& header) {
  known_ = std::max(known_, header.last_id);
  possible_ = pending_ = 0;
  batch_ = {};
  missing_count_ = 0;
}

void IdMark::see(const SegmentReader::Item& item) {
  std::visit(overloaded{[this](const SegmentReader::Batch& batch) { see_batch(batch); },
                        [this](const SegmentReader::Head& head) { see_head(head); },
                        [this](const SegmentReader::Gap& gap) { see_gap(gap); },
                        [](const SegmentReader::End&) {}},
             item);
}

void IdMark::see_batch(const SegmentReader::Batch& batch) {
  possible_ = guessed();
  pending_ = 0;
  batch_ = batch;
  missing_count_ = batch.header.record_count;
}

void IdMark::see_head(const SegmentReader::Head& head) {
  known_ = std::max(known_, head.head.id);
  if (head.at < batch_.end() && missing_count_ > 0) --missing_count_;
}

void IdMark::see_gap(const SegmentReader::Gap& gap) {
  if (gap.at < batch_.end()) {
    before_gap_ = highest();
  } else {
    pending_ = guessed() + puts_in(without_header(gap.bytes));
  }
}

}  // namespace xylem
