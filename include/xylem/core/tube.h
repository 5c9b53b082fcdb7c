// Tube: a named queue. It exists while it is "default", somebody uses or watches it, or it has a
// job in any state or on its way in, or move-jobs is at work on it (protocol.md, "Tubes"); then it
// vanishes with its statistics.
//
// A tube is *pending* while it is not paused and has both ready jobs and waiting clients: a tick
// left them over. Pending tubes stand in the engine's heap by their front job; a new reserve queues
// behind their waiters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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

using DelayedJobs = TimerWheel<Job, &Job::links>;
using BuriedJobs = List<Job, &Job::links>;

// The last pause of a tube; it runs while the tube is paused.
struct Pause {
  explicit Pause(Tube& tube) : end(tube, WakerKind::kPauseEnd) {}

  Waker end;
  Time until{};
  std::uint32_t seconds = 0;  // as set
  std::uint32_t segment = 0;  // of the log, where its record stands
  Links<Pause> running{};     // in the order of their records
  bool recovered = false;     // the tube lives until it ends, as nobody uses it yet
};

// What only tubes with delayed jobs or a pause need: allocated when first needed.
struct TubeTimers {
  explicit TubeTimers(Tube& tube) : promotion(tube, WakerKind::kPromotion) {}

  std::unique_ptr<DelayedJobs> delayed = std::make_unique<DelayedJobs>();
  Waker promotion;
  std::unique_ptr<Pause> pause;  // null until there is one
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
  BuriedJobs buried;
  std::unique_ptr<TubeTimers> timers;

  std::uint32_t pending_position = kNotPending;  // in the engine's heap of pending tubes
  std::uint32_t list_position = 0;               // in list-tubes
  std::uint32_t urgent_count = 0;
  std::uint32_t ready_count = 0;
  std::uint32_t reserved_count = 0;
  std::uint32_t delayed_count = 0;
  std::uint32_t buried_count = 0;
  std::uint32_t move_count = 0;    // move-jobs that are under way, from or to here
  std::uint32_t upload_count = 0;  // puts whose body has not arrived
  std::uint32_t using_count = 0;
  std::uint32_t watching_count = 0;
  std::uint32_t waiting_count = 0;
  std::uint32_t pause_count = 0;
  std::array<std::uint16_t, 4> flushed{};  // by state: the flush_count of its last flush
  std::uint16_t flush_count = 0;           // stops at its last number (flush.cc)
  bool paused = false;
  bool gone = false;  // vanished, kept only for a list-tubes that is under way
  std::uint64_t total_jobs = 0;
  std::uint64_t delete_count = 0;

  [[nodiscard]] bool pending() const { return pending_position != kNotPending; }
  // Null if it is not paused.
  [[nodiscard]] Pause* running_pause() const { return paused ? timers->pause.get() : nullptr; }
  // By jobs, also on their way.
  [[nodiscard]] bool is_kept() const {
    return (ready_count | reserved_count | delayed_count | buried_count | upload_count |
            move_count) != 0;
  }
  // Of that state; none: of all but reserved.
  [[nodiscard]] std::uint64_t jobs_in(std::optional<JobState> state) const {
    if (!state) return std::uint64_t{ready_count} + delayed_count + buried_count;
    return *state == JobState::kReady     ? ready_count
           : *state == JobState::kDelayed ? delayed_count
           : *state == JobState::kBuried  ? buried_count
                                          : reserved_count;
  }
  // No flush is numbered any more, and jobs that are flushed are freed at once.
  [[nodiscard]] bool is_out_of_flushes() const {
    return flush_count == std::numeric_limits<std::uint16_t>::max();
  }
  // For a tube of which no job is left, not even a dead one.
  void number_flushes_anew() {
    flushed = {};
    flush_count = 0;
  }
  // Whether a job of this tube is gone, though its memory is still there.
  [[nodiscard]] bool has_flushed(const Job& job) const {
    return job.flush < flushed[static_cast<std::size_t>(job.state)];
  }
};

static_assert(sizeof(Tube) == 168, "memory per tube is a promise (docs/benchmarks.md)");

// Where a pending tube stands in the engine's heap: by the job that is handed out next.
struct PendingTube {
  std::uint32_t pri = 0;
  JobId id = 0;
  Tube* tube = nullptr;

  [[nodiscard]] bool before(const PendingTube& other) const { return more_urgent(*this, other); }
  void moved_to(std::uint32_t position) const { tube->pending_position = position; }
};

}  // namespace xylem
