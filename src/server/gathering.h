// Gathering: when the next sync is worth waiting a moment for (policy `always`).
//
//     sync A   |--1..8--|         |--1..16--|         |--1..16--|      syncs, and whose records
//     sync B            |-9..16-| ^ as many came again: on          they take
//
// Who was answered mostly records again at once. If the next sync began without them, half of the
// clients would be in the sync that runs and half in the next one for ever, and each would wait for
// both. So it begins when as many records are there as the last one took and found waiting at its
// end, but is late by half of the last one's time and by 1 ms at most. One client alone never
// waits: its first record is as many as there were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace xylem {

class Gathering {
 public:
  // A record that a reply waits for.
  void record() { ++count_; }
  // A sync takes all that was recorded.
  void sync_began() { taken_ = std::exchange(count_, 0); }
  void sync_ended(std::uint64_t now_ns, std::uint64_t took_ns) {
    awaited_ = taken_ + count_;
    until_ns_ = now_ns + std::min(took_ns / 2, kMostNs);
  }
  // Whether a sync that could begin now had better not. Asked again in each turn.
  [[nodiscard]] bool goes_on(std::uint64_t now_ns) const {
    return count_ < awaited_ && now_ns < until_ns_;
  }

 private:
  // The loop does not sleep meanwhile, so it must be short on a slow disk too.
  static constexpr std::uint64_t kMostNs = 1'000'000;

  std::uint64_t count_ = 0;    // recorded since the last sync began
  std::uint64_t taken_ = 0;    // by that one
  std::uint64_t awaited_ = 0;  // so many records begin the next sync
  std::uint64_t until_ns_ = 0;
};

}  // namespace xylem
