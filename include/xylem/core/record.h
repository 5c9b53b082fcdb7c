// Record: what must survive, as a value. Appending the records of a history to a log and applying
// them to a fresh engine gives the state back, reserved jobs as ready. Views live until the next
// call of the engine.
//
// Replies wait for records. Notes (is_note) are counters that may lag behind after a crash; no
// reply waits for them (design: "What is written"). touch and a delay that ran out write nothing:
// whoever applies records promotes by deadline.
//
// If you change this, also: core/apply.cc, storage/record_codec and docs/disk-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "xylem/core/buffer.h"
#include "xylem/core/ids.h"
#include "xylem/core/stats.h"
#include "xylem/core/time.h"

namespace xylem {

// A whole job: a put, or a live job logged again.
struct PutRecord {
  JobId id = 0;
  std::string_view tube;
  JobState state = JobState::kReady;  // ready, delayed or buried
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  Time created_at{};
  Time deadline_at{};            // if delayed
  std::uint64_t bury_order = 0;  // if buried
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  std::string_view body;
  Buffer* buffer = nullptr;  // holds `body` and CRLF if it is a long one
};
struct DeleteRecord {
  JobId id = 0;
};
// releases + 1; delayed until deadline_at if delay > 0, else ready.
struct ReleaseRecord {
  JobId id = 0;
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  Time deadline_at{};
};
// buries + 1, last in the order of burying.
struct BuryRecord {
  JobId id = 0;
  std::uint32_t pri = 0;
  std::uint64_t bury_order = 0;
};
// kicks + 1, ready.
struct KickRecord {
  JobId id = 0;
};
// reserve-job of a delayed or buried job: what is reserved comes back ready, so it has left its
// state.
struct ReserveJobRecord {
  JobId id = 0;
  std::uint32_t reserves = 0;
};
struct PauseRecord {
  std::string_view tube;
  std::uint32_t delay = 0;  // 0 ends the pause
  Time until{};
};
// To another tube, in the same state; last in its order of burying if it is buried.
struct MoveRecord {
  JobId id = 0;
  std::string_view tube;
  std::uint64_t bury_order = 0;  // if buried
};
// Another priority, in whatever state.
struct PriorityRecord {
  JobId id = 0;
  std::uint32_t pri = 0;
};
// Ids, ascending, eight bytes each with the lowest first: so they can stand in a log as they are.
struct PackedIds {
  std::string_view bytes;

  [[nodiscard]] std::size_t size() const { return bytes.size() / 8; }
  [[nodiscard]] JobId operator[](std::size_t place) const {
    JobId id = 0;
    for (std::size_t i = 8; i-- > 0;) {
      id = id << 8U | static_cast<unsigned char>(bytes[place * 8 + i]);
    }
    return id;
  }
  [[nodiscard]] bool contains(JobId id) const;
};
// All jobs of the tube in these states are gone, as they were at that time: what was delayed until
// then, or less, was ready if `state` is given. None: ready, delayed and buried. `reserved` jobs of
// the tube are not gone, though whoever applies records takes them as ready; none are named if
// ready ones are not flushed.
struct FlushRecord {
  std::string_view tube;
  std::optional<JobState> state;
  Time at{};
  PackedIds reserved;
};
// Notes: the counter as it is now.
struct ReserveNote {
  JobId id = 0;
  std::uint32_t reserves = 0;
};
struct TimeoutNote {
  JobId id = 0;
  std::uint32_t timeouts = 0;
};

// Ids up to here count as given.
struct IdNote {
  JobId id = 0;
};

using Record = std::variant<PutRecord, DeleteRecord, ReleaseRecord, BuryRecord, KickRecord,
                            ReserveJobRecord, PauseRecord, MoveRecord, PriorityRecord, FlushRecord,
                            ReserveNote, TimeoutNote, IdNote>;

constexpr bool is_note(const Record& record) {
  return std::holds_alternative<ReserveNote>(record) ||
         std::holds_alternative<TimeoutNote>(record) || std::holds_alternative<IdNote>(record);
}

inline bool PackedIds::contains(JobId id) const {
  std::size_t low = 0;
  for (std::size_t high = size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    (*this)[middle] < id ? low = middle + 1 : high = middle;
  }
  return low < size() && (*this)[low] == id;
}

// What the records take in a log, checks included; a test holds the codec to it. `placed`: delayed
// or buried. `counted`: any counter is not 0.
constexpr std::uint64_t put_bytes(std::size_t name_bytes, std::size_t body_bytes, bool placed,
                                  bool counted) {
  return 41 + name_bytes + body_bytes + (placed ? 6 : 0) + (counted ? 20 : 0);
}
constexpr std::uint64_t pause_bytes(std::size_t name_bytes) { return 31 + name_bytes; }

}  // namespace xylem
