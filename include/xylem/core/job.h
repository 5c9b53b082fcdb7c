// Job: one unit of work. A job is in exactly one place, and its state names it:
//
//                        put delay 0
//            +-----------------------------------+
//            |                                   v         reserve, reserve-job
//     put ---+                               [ READY ] ----------------------------+
//            |        time, kick, kick-job     ^  ^  ^                             v
//            +-> [ DELAYED ] ------------------+  |  +-- release 0, ttr, close [ RESERVED ]
//        delay > 0   ^   |                        |                             |  |  ^
//                    |   +--- reserve-job --------|-----------------------------|--|--+
//                    +------- release > 0 --------|-----------------------------+  |  |
//                                                 +-- kick, kick-job -- [ BURIED ]<+  |
//                                                                     bury   |        |
//                                                                            +--------+
//                                                                            reserve-job
//     delete takes a job away from every state, from RESERVED only for its own client; flush-tube
//     from every state but RESERVED, at once: they are dead (Tube::has_flushed), and freed later.
//
//     state     container                    order             deadline_at means
//     READY     tube.ready (ReadyQueue)      pri, id           nothing
//     DELAYED   tube.timers->delayed (wheel) deadline, id      when it becomes ready
//     RESERVED  client.reserved (Heap)       deadline, tube,id when its ttr runs out
//     BURIED    tube.buried (List)           order of burying  that order (bury_order)
//
// Only transitions.cc changes state, container, counters and the counts of jobs. A job and its body
// stand in one block of the slab: the body begins right behind the last field, in what would be
// padding (so a Job is never assigned as a whole), or, beyond limits::kInlineBodyBytes, a share in
// its Buffer follows the struct. Memory per job is a promise (docs/benchmarks.md): think before a
// field is added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "xylem/core/buffer.h"
#include "xylem/core/ids.h"
#include "xylem/core/list.h"
#include "xylem/core/stats.h"
#include "xylem/core/time.h"

namespace xylem {

struct Client;
struct Tube;

struct Job {
  // By whom a job is reserved, and its place in that client's heap.
  struct Holding {
    Client* owner;
    std::uint32_t position;
  };

  union {
    Links<Job> links{};           // READY in a lane, DELAYED in a slot, BURIED
    std::uint32_t heap_position;  // READY or DELAYED in a heap
    Holding holding;              // RESERVED
  };
  Time deadline_at{};
  JobId id = 0;
  Tube* tube = nullptr;
  Time created_at{};
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;  // seconds, as last set
  std::uint32_t ttr = 0;    // seconds, at least 1
  std::uint32_t body_bytes = 0;
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  std::uint32_t segment = 0;  // of the log, where its latest PutRecord stands
  JobState state = JobState::kReady;
  std::uint8_t lane = 0;    // ReadyQueue's own
  std::uint16_t flush = 0;  // the tube's flush_count when it entered its state

  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] std::string_view body() const;
  // The Buffer of a long body, else null.
  [[nodiscard]] Buffer* buffer() const;
  // If BURIED.
  [[nodiscard]] std::uint64_t bury_order() const {
    return static_cast<std::uint64_t>(deadline_at.time_since_epoch().count());
  }
  // Whether any counter is not 0.
  [[nodiscard]] bool counted() const {
    return (reserves | timeouts | releases | buries | kicks) != 0;
  }
  [[nodiscard]] bool urgent() const { return pri < limits::kUrgentBelow; }
};

// Where the body begins.
inline constexpr std::size_t kJobBytes = offsetof(Job, flush) + sizeof(Job::flush);
static_assert(kJobBytes == 92 && sizeof(Job) == 96, "memory per job is a promise");

// The order of what is due (design: "tick"): by deadline, tube's creation number, id.
[[nodiscard]] bool earlier(const Job& a, const Job& b);

}  // namespace xylem
