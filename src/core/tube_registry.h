// TubeRegistry: tubes by name, and in the order of list-tubes. It makes and destroys tubes; whether
// one is still needed, the engine knows.
//
// Names stand in many small ordered maps, chosen by a hash: nothing is ever rehashed as a whole,
// and names that were made to collide cost a logarithm at worst.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/core/tube.h"

namespace xylem {

class TubeRegistry {
 public:
  TubeRegistry() = default;
  TubeRegistry(const TubeRegistry&) = delete;
  TubeRegistry& operator=(const TubeRegistry&) = delete;

  [[nodiscard]] Tube* find(std::string_view name);
  // The tube of that name, made if it is missing.
  Tube& find_or_make(std::string_view name);
  // Takes a tube out of the world, marked as gone; its memory stays until forget_removed().
  void remove(Tube& tube);
  // A slice of them, but for those that a walk may still come upon: a tube removed before a walk
  // began is not in it, so walks that overlap without end keep nothing for long.
  void forget_removed() {
    for (std::uint32_t n = 0; n < limits::kSlice && !graveyard_.empty(); ++n) {
      if (is_walked(graveyard_.front())) return;
      graveyard_.pop_front();
    }
  }
  // Tubes whose memory is still there. For tests.
  [[nodiscard]] std::size_t removed_count() const { return graveyard_.size(); }

  // In the order of list-tubes: by creation, but the last takes the place of one that vanishes.
  [[nodiscard]] const std::vector<Tube*>& in_order() const { return in_order_; }

  // Between these, the Tube pointers of in_order() as it was at the begin stay good.
  using Walk = std::uint64_t;
  [[nodiscard]] Walk begin_walk() { return *walks_.insert(walks_.end(), ++last_walk_); }
  void end_walk(Walk walk) { walks_.erase(walk); }

 private:
  using Shard = std::map<std::string, Tube, std::less<>>;

  struct Removed {
    Walk last_walk;  // that had begun
    Shard::node_type tube;
  };

  [[nodiscard]] bool is_walked(const Removed& removed) const {
    return !walks_.empty() && *walks_.begin() <= removed.last_walk;
  }
  Shard& shard_of(std::string_view name);

  std::array<Shard, 8192> shards_;
  Tube* last_found_ = nullptr;  // recovery asks for the same again and again
  std::vector<Tube*> in_order_;
  std::deque<Removed> graveyard_;  // in the order of removal
  std::set<Walk> walks_;           // under way
  Walk last_walk_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace xylem
