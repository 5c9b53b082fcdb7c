// SegmentCounts: how many jobs and pauses stand in each segment of the log. Segments are hundreds,
// but each put and each delete counts, mostly in the same segment as the one before: so the last
// one counted up and the last one counted down are remembered. A count that has come down to 0
// stays until another segment comes up, so that a short queue in motion allocates nothing.
#pragma once

#include <cstdint>
#include <map>

#include "xylem/check.h"

namespace xylem {

class SegmentCounts {
  using Counts = std::map<std::uint32_t, std::uint64_t>;
  using Entry = Counts::value_type;

 public:
  void add(std::uint32_t segment) { ++entry(added_, segment)->second; }
  // Must have been added.
  void remove(std::uint32_t segment) {
    Entry* const found = entry(removed_, segment);
    CHECK(found->second > 0);
    --found->second;
  }
  [[nodiscard]] std::uint64_t of(std::uint32_t segment) const {
    const auto found = counts_.find(segment);
    return found == counts_.end() ? 0 : found->second;
  }
  // Of all segments. O(segments), for checks.
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const Entry& each : counts_) sum += each.second;
    return sum;
  }

 private:
  Entry* entry(Entry*& last, std::uint32_t segment) {
    if (last == nullptr || last->first != segment) last = find_or_make(segment);
    return last;
  }

  Entry* find_or_make(std::uint32_t segment) {
    const auto found = counts_.find(segment);
    if (found != counts_.end()) return &*found;
    added_ = removed_ = nullptr;
    std::erase_if(counts_, [](const Entry& each) { return each.second == 0; });
    return &*counts_.emplace(segment, 0).first;
  }

  Counts counts_;
  Entry* added_ = nullptr;
  Entry* removed_ = nullptr;
};

}  // namespace xylem
