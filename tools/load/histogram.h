// A log-linear histogram of whole numbers (we put nanoseconds into it): 64 buckets for each power
// of two, so a percentile is at most 1.6 % above the value that was recorded. Recording is one
// shift and one addition; the size is fixed (30 KiB), whatever is recorded.
//
//   value     0 1 2 ... 127 | 128 130 132 ... 254 | 256 260 264 ... 508 | ...
//   step            1       |          2          |          4          | ...
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace xylem::load {

class Histogram {
 public:
  void record(std::uint64_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    max_ = std::max(max_, value);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t max() const { return max_; }

  /// The least bucket bound that `share` (0 to 1) of all values do not exceed; 0 if there are none.
  [[nodiscard]] std::uint64_t percentile(double share) const {
    const double wanted = share * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      seen += buckets_[bucket];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        return std::min(last_value_of(bucket), max_);
      }
    }
    return max_;
  }

 private:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kSubCount = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBucketCount = (64 - kSubBits + 1) * kSubCount;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < kSubCount) return static_cast<std::size_t>(value);
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return shift * kSubCount + static_cast<std::size_t>(value >> shift);
  }

  static std::uint64_t last_value_of(std::size_t bucket) {
    if (bucket < 2 * kSubCount) return bucket;
    const std::size_t shift = bucket / kSubCount - 1;
    return ((bucket % kSubCount + kSubCount + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kBucketCount> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace xylem::load
