// Which map a name stands in decides nothing that can be seen: list-tubes has an order of its own,
// and nothing walks the maps.
#include "tube_registry.h"

#include <tuple>
#include <utility>
namespace xylem {

// FNV-1a: short names, and the maps carry what it does badly.
TubeRegistry::Shard& TubeRegistry::shard_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return shards_[(hash ^ (hash >> 16U)) % shards_.size()];
}

Tube* TubeRegistry::find(std::string_view name) {
  Shard& shard = shard_of(name);
  const auto found = shard.find(name);
  return found == shard.end() ? nullptr : &found->second;
}

Tube& TubeRegistry::find_or_make(std::string_view name) {
  if (last_found_ != nullptr && *last_found_->name == name) return *last_found_;
  Shard& shard = shard_of(name);
  const auto place = shard.lower_bound(name);
  if (place != shard.end() && place->first == name) return *(last_found_ = &place->second);
  const auto made = shard.emplace_hint(place, std::piecewise_construct, std::forward_as_tuple(name),
                                       std::forward_as_tuple(++last_number_));
  Tube& tube = made->second;
  tube.name = &made->first;
  tube.list_position = static_cast<std::uint32_t>(in_order_.size());
  in_order_.push_back(&tube);
  return tube;
}

void TubeRegistry::remove(Tube& tube) {
  Tube& last = *in_order_.back();
  in_order_[tube.list_position] = &last;
  last.list_position = tube.list_position;
  in_order_.pop_back();
  tube.gone = true;
  if (last_found_ == &tube) last_found_ = nullptr;
  Shard& shard = shard_of(*tube.name);
  graveyard_.push_back({last_walk_, shard.extract(shard.find(*tube.name))});
}

}  // namespace xylem
