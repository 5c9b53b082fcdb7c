// Seldom: how often a line may be written about something that happens again and again: the first
// time at once, then at most once in a while, with the count of what happened since.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "xylem/core/time.h"

namespace xylem {

class Seldom {
 public:
  // It has happened. How many times since a line was written, if one should be written now; else 0.
  std::uint64_t happened(Time now) {
    ++untold_;
    if (told_at_ != Time::min() && now - told_at_ < kPause) return 0;
    told_at_ = now;
    return std::exchange(untold_, 0);
  }

 private:
  static constexpr Duration kPause = std::chrono::seconds(10);

  Time told_at_ = Time::min();
  std::uint64_t untold_ = 0;
};

}  // namespace xylem
