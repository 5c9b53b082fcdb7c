// Tube: a named queue. It exists while it is "default", somebody uses or watches it, or it has a
// job in any state or on its way in (protocol.md, "Tubes"); then it vanishes with its statistics.
//
// A tube is *pending* while it is not paused and has both ready jobs and waiting clients: a tick
// left them over. Pending tubes stand in the engine's heap by their front job; a new reserve queues
// behind their waiters.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "xylem/core/job.h"
#include "xylem/core/list.h"
#include "xylem/core/ready_queue.h"
#include "xylem/core/timer_wheel.h"
#include "xylem/core/waker.h"

namespace xylem {

// "This client watches this tube", an object, so that leaving a tube's waiting list is O(1). Linked
// while the client waits.
struct Watching {
  Links<Watching> links{};
  Tube* tube = nullptr;
  Client* client = nullptr;
};

// What only tubes with delayed jobs or a pause need: allocated when first needed.
struct TubeTimers {
  explicit TubeTimers(Tube& tube)
      : promotion(tube, WakerKind::kPromotion), pause_end(tube, WakerKind::kPauseEnd) {}

  TimerWheel<Job, &Job::links> delayed;
  Waker promotion;
  Waker pause_end;
  // Of a pause that runs:
  Time pause_until{};
  std::uint32_t pause_segment = 0;     // of the log, where its record stands
  Links<TubeTimers> running_pauses{};  // in the order of their records
};

struct Tube {
  static constexpr std::uint32_t kNotPending = std::numeric_limits<std::uint32_t>::max();

  explicit Tube(std::uint64_t its_number) : number(its_number) {}
  Tube(const Tube&) = delete;
  Tube& operator=(const Tube&) = delete;

  const std::string* name = nullptr;  // the key of TubeRegistry, which sets it
  std::uint64_t number;               // counts creations; orders tubes
  ReadyQueue<Job> ready;
  List<Watching, &Watching::links> waiting;  // first come, first served
  List<Job, &Job::links> buried;
  std::unique_ptr<TubeTimers> timers;

  std::uint32_t pending_position = kNotPending;  // in the engine's heap of pending tubes
  std::uint32_t list_position = 0;               // in list-tubes
  std::uint32_t urgent_count = 0;
  std::uint32_t ready_count = 0;
  std::uint32_t reserved_count = 0;
  std::uint32_t delayed_count = 0;
  std::uint32_t buried_count = 0;
  std::uint32_t upload_count = 0;  // puts whose body has not arrived
  std::uint32_t using_count = 0;
  std::uint32_t watching_count = 0;
  std::uint32_t waiting_count = 0;
  std::uint32_t pause_count = 0;
  std::uint32_t pause = 0;  // seconds, as set; 0 if not paused
  bool paused = false;
  bool recovered_pause = false;  // lives until the pause ends, as nobody uses it yet
  bool gone = false;             // vanished, kept only for a list-tubes that is under way
  std::uint64_t total_jobs = 0;
  std::uint64_t delete_count = 0;

  [[nodiscard]] bool pending() const { return pending_position != kNotPending; }
  [[nodiscard]] bool has_jobs() const {
    return (ready_count | reserved_count | delayed_count | buried_count | upload_count) != 0;
  }
};

// Where a pending tube stands in the engine's heap: by the job that is handed out next.
struct PendingTube {
  std::uint32_t pri = 0;
  JobId id = 0;
  Tube* tube = nullptr;

  [[nodiscard]] bool before(const PendingTube& other) const { return more_urgent(*this, other); }
  void moved_to(std::uint32_t position) const { tube->pending_position = position; }
};

}  // namespace xylem
