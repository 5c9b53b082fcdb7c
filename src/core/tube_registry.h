// TubeRegistry: tubes by name, and in the order of list-tubes. It makes and destroys tubes; whether
// one is still needed, the engine knows.
//
// Names stand in many small ordered maps, chosen by a hash: nothing is ever rehashed as a whole,
// and names that were made to collide cost a logarithm at worst.
#pragma once

#include <array>
#include <map>
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
  // Unless a walk is under way.
  void forget_removed() {
    if (!graveyard_.empty() && walks_ == 0) graveyard_.clear();
  }

  // In the order of list-tubes: by creation, but the last takes the place of one that vanishes.
  [[nodiscard]] const std::vector<Tube*>& in_order() const { return in_order_; }

  // Between these, Tube pointers that somebody keeps stay good.
  void begin_walk() { ++walks_; }
  void end_walk() { --walks_; }

 private:
  using Shard = std::map<std::string, Tube, std::less<>>;

  Shard& shard_of(std::string_view name);

  std::array<Shard, 8192> shards_;
  std::vector<Tube*> in_order_;
  std::vector<Shard::node_type> graveyard_;
  std::uint64_t last_number_ = 0;
  std::uint32_t walks_ = 0;
};

}  // namespace xylem
