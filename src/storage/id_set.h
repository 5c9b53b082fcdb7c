// IdSet: the ids of deleted jobs while a log is read. Eight bytes an id. Look-ups come almost in
// order, so each begins where the last one ended and mostly ends there too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "xylem/core/ids.h"

namespace xylem {

class IdSet {
 public:
  void add(JobId id) { ids_.push_back(id); }
  // To be called once, after all were added.
  void finish() {
    if (!std::ranges::is_sorted(ids_)) std::ranges::sort(ids_);
  }

  [[nodiscard]] bool contains(JobId id) {
    std::size_t low = hint_;
    std::size_t high = hint_;
    // Steps of twice the length each, until id lies between low and high.
    for (std::size_t step = 1; low > 0 && ids_[low - 1] >= id; step *= 2) {
      low -= std::min(low, step);
    }
    for (std::size_t step = 1; high < ids_.size() && ids_[high] < id; step *= 2) {
      high += std::min(ids_.size() - high, step);
    }
    const auto begin = ids_.begin();
    const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low),
                                        begin + static_cast<std::ptrdiff_t>(high), id);
    hint_ = static_cast<std::size_t>(found - begin);
    return found != ids_.end() && *found == id;
  }

 private:
  std::vector<JobId> ids_;
  std::size_t hint_ = 0;  // what is before it was smaller than the id last asked for
};

}  // namespace xylem
