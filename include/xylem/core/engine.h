// Engine: the whole of a work queue, as a value that is told things and answers. It is told who,
// which command and what time; it answers with replies (who must hear what) and records (what must
// survive). It never reads a clock, opens a file or calls back, and the same history gives the same
// answers.
//
//     connect ----> execute ... execute ----> half_close? ----> disconnect
//                       \         tick between them, whenever next_deadline() has come
//                        +--> Output: replies, records
//
// Rules for the caller:
//  - A client has one command at a time. execute() gives it exactly one reply, now or later (from
//    another client's command, or a tick): until then the client may not execute again. Only a
//    PutLine whose fate is not kTrailing has no reply: its PutBody or PutSkipped has.
//  - Before execute(), if next_deadline() <= now: tick(). Times are rounded as core/time.h says.
//  - An Output's views live until the next call; clear() it before.
//  - What is left over of a tick, and long commands, are done by further ticks: then
//    next_deadline() is not later than the last tick's time (it may be Time::min()).
//
// Complexity: no command, and no tick, loops over all tubes or all clients. A tick promotes or
// expires at most `budget` jobs, does one slice of `budget` jobs of one long command (kick,
// move-jobs, the lists, a closed client's jobs; design: "Bounded work"), hands out at most `budget`
// jobs, answers at most `budget` clients whose wait is over, and frees at most `budget` flushed
// jobs. Only flush-tube of ready jobs costs more, if the tube has reserved ones: O(clients + all
// reserved jobs).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "xylem/core/command.h"
#include "xylem/core/limits.h"
#include "xylem/core/record.h"
#include "xylem/core/reply.h"
#include "xylem/core/slab.h"
#include "xylem/core/time.h"

namespace xylem {

struct Output {
  std::vector<Reply> replies;
  std::vector<Record> records;  // only if Engine::Options::recording
  ReplyDetails details;         // of the one reply, if any, whose word is kOk
  std::uint64_t steps = 0;      // what the call cost beyond O(1): tubes that it went through

  void clear() {
    replies.clear();
    records.clear();
    steps = 0;
    if (!std::holds_alternative<std::monostate>(details)) details = {};
  }
};

class Engine {
 public:
  struct Options {
    std::uint32_t budget = limits::kSlice;   // jobs a tick or a slice; at least 1
    bool recording = false;                  // whether records are wanted
    PrepareMemory prepare_memory = nullptr;  // see core/slab.h
  };

  explicit Engine(Options options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A new client: uses and watches "default".
  ClientId connect(Time now);
  // The client is gone, whatever it was doing. Its id may be given again by the next connect().
  // Its jobs become ready, in slices.
  void disconnect(ClientId id, Time now, Output& out);
  // The client will send no more: it never waits again. If it is waiting it hears TIMED_OUT.
  void half_close(ClientId id, Time now, Output& out);

  void execute(ClientId id, const Command& command, Time now, Output& out);

  // Does what is due, in this order: expiries by (deadline, tube's number, id), a slice of a long
  // command, matching of ready jobs and waiting clients, TIMED_OUT and DEADLINE_SOON by (moment,
  // order of connecting) to those whose moment was before the first deadline left over, if no tube
  // is pending.
  void tick(Time now, Output& out);
  // When tick() has something to do; may be early, is never late. kNever: nothing.
  [[nodiscard]] Time next_deadline() const;

  // Drain mode: put answers DRAINING.
  void set_draining(bool draining);
  [[nodiscard]] bool draining() const;

  // The log. Its segments have rising numbers, 0 if there is no log. Each live job, and each pause
  // that runs, stands in one segment: the one of its latest PutRecord or PauseRecord.

  // How the log is from now on; kFailed stays. Full: put answers OUT_OF_MEMORY. Failed: no records
  // are made, what would make one answers INTERNAL_ERROR and changes nothing, a kick under way ends
  // like that, and reserve acts as if all tubes were paused. Time goes on in memory.
  void set_log_state(LogState state);
  // Jobs and pauses that are recorded from now on stand in this segment.
  void set_segment(std::uint32_t number);
  // The latest record of the job, or of the tube's pause, stands in another segment than was said.
  // Nothing if there is no such job or pause any more.
  void moved_to_segment(JobId id, std::uint32_t number);
  void moved_to_segment(std::string_view tube, std::uint32_t number);
  // Jobs and running pauses that stand in the segment: 0 if it may go. Flushed jobs count until
  // they are freed, which ticks do. O(log segments).
  [[nodiscard]] std::uint64_t live_in(std::uint32_t segment) const;
  // Whether jobs that were flushed are still being freed: live_in() counts them until then.
  [[nodiscard]] bool is_freeing() const;
  // What logging all live jobs and running pauses again would take, exactly; it counts flushed jobs
  // like live_in(). O(1).
  [[nodiscard]] std::uint64_t live_bytes() const;
  // Compaction: if the job is there and stands in segment `from`, records it anew, as it is now
  // (a reserved one as ready); so for the pause of a tube. Several calls may share one Output.
  void log_again(JobId id, std::uint32_t from, Output& out);
  void log_again(std::string_view tube, std::uint32_t from, Output& out);
  // The same for whatever stands in `from`, found by walking all jobs, for a segment that cannot be
  // read: looks at the next `budget` jobs after `after`. Returns the last, to go on from, or 0 when
  // there are none left.
  JobId log_again_after(JobId after, std::uint32_t from, std::uint32_t budget, Output& out);
  // At most `budget` of the pauses that stand in `from` or before. Returns whether none is left.
  bool log_pauses_again(std::uint32_t from, std::uint32_t budget, Output& out);

  // Recovery: what a record of an earlier engine says, in the order of the records, before any
  // client connects; `segment` is the one in which it was found. Records of unknown jobs are
  // ignored. Delays that have run out are the next tick's.
  void apply(const Record& record, Time now, std::uint32_t segment);
  // Ids and orders of burying up to these count as given, though no record may tell of them.
  void raise_marks(JobId last_id, std::uint64_t last_bury_order);
  [[nodiscard]] JobId last_id() const;
  [[nodiscard]] std::uint64_t last_bury_order() const;

  // For tests and shutdown: jobs in all states, and the clients connected now.
  [[nodiscard]] EngineStats stats() const;
  // Recomputes every invariant and CHECKs it. O(everything).
  void check() const;

  class State;  // src/core/state.h

 private:
  std::unique_ptr<State> state_;
};

}  // namespace xylem
