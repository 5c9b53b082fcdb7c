// Engine::State: the engine's inside. One struct, whose functions stand in files by what they do:
//
//     execute.cc      the switchboard: command -> function
//     clients.cc      connect, disconnect, use, watch, ignore
//     jobs.cc         put, delete, release, bury, touch, kick-job, reserve-job, peeks
//     waiting.cc      reserve, matching of ready jobs and waiting clients
//     tick.cc         what time does
//     work.cc         long commands, in slices
//     flush.cc        flush-tube, and the freeing of what it cut off
//     transitions.cc  the only code that touches a job's state, container and counts
//     tubes.cc        when a tube vanishes
//     statistics.cc   stats, stats-job, stats-tube, lists
//     log.cc          segments of the log, compaction
//     apply.cc        recovery from records
//     check.cc        every invariant
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job_store.h"
#include "segment_counts.h"
#include "tube_registry.h"
#include "xylem/check.h"
#include "xylem/core/client.h"
#include "xylem/core/engine.h"

namespace xylem {

// Where a job is to go: a state, and what that state needs.
struct Place {
  JobState state = JobState::kReady;
  Time deadline_at{};       // see job.h
  Client* owner = nullptr;  // if reserved
};

// What a flush-tube cut off: no look-up finds these jobs, and they are freed in slices.
struct Flushed {
  ReadyQueue<Job> ready;
  std::unique_ptr<DelayedJobs> delayed;
  BuriedJobs buried;
  TubeRegistry::Walk walk = 0;  // keeps the tube's memory, to which the jobs point

  // Takes one out; null if there is none left.
  Job* take();
  [[nodiscard]] bool empty() const {
    return ready.empty() && buried.empty() && (delayed == nullptr || delayed->empty());
  }
};

inline Place ready() { return {}; }
inline Place delayed_until(Time deadline) { return {JobState::kDelayed, deadline, nullptr}; }
inline Place reserved_by(Client& owner, Time deadline) {
  return {JobState::kReserved, deadline, &owner};
}
inline Place buried_as(std::uint64_t order) {
  return {JobState::kBuried, Time(Duration(static_cast<Clock::rep>(order))), nullptr};
}

class Engine::State {
 public:
  explicit State(Options its_options);

  // Each call of the engine begins with this: time goes on, what the last Output pointed to may go.
  void begin(Time now);

  // clients.cc
  ClientId connect();
  void disconnect(Client& client, Output& out);
  void half_close(Client& client, Output& out);
  void use(Client& client, std::string_view name, Output& out);
  void watch(Client& client, std::string_view name, Output& out);
  void ignore(Client& client, std::string_view name, Output& out);
  // Of at most `budget`, from which they are taken; true if none is left.
  bool let_go_of_tubes(Client& client, std::uint32_t& budget, Output& out);
  void free_slot(Client& client);
  [[nodiscard]] Client& client(ClientId id) { return *clients[index_of(id)]; }

  // execute.cc
  void execute(Client& client, const Command& command, Output& out);

  // jobs.cc
  void put_line(Client& client, const PutLine& put, Output& out);
  void put_body(Client& client, const PutBody& put, Output& out);
  void abort_upload(Client& client, Output& out);
  void delete_job(Client& client, JobId id, Output& out);
  void release(Client& client, const Release& command, Output& out);
  void bury(Client& client, const Bury& command, Output& out);
  void touch(Client& client, JobId id, Output& out);
  void kick_job(Client& client, JobId id, Output& out);
  void reserve_job(Client& client, JobId id, Output& out);
  void peek(Client& client, const Job* job, Output& out);
  void reprioritize(Client& client, const Reprioritize& command, Output& out);
  // The job of that id if `client` has reserved it, else null.
  [[nodiscard]] Job* held_by(const Client& client, JobId id) const;
  void kick_one(Job& job, Output& out);
  // All that a log must know of a job.
  [[nodiscard]] static PutRecord put_record(const Job& job);

  // waiting.cc
  void reserve(Client& client, Time until, Output& out);
  void begin_wait(Client& client, Time until);
  void end_wait(Client& client);
  void hand_out(Job& job, Client& client, Output& out);
  void match(Output& out);
  void become_worker(Client& client);

  // tick.cc
  void tick(Time now, Output& out);
  [[nodiscard]] Time next_deadline() const;
  void arm_if_earlier(TimerWheel<Waker, &Waker::links>& wheel, Waker& waker, Time deadline,
                      std::uint64_t major, std::uint64_t minor);
  void disarm(TimerWheel<Waker, &Waker::links>& wheel, Waker& waker);

  // work.cc
  void kick(Client& client, std::uint32_t bound, Output& out);
  void list_tubes(Client& client, Output& out);
  void list_tubes_watched(Client& client, Output& out);
  void peek_delayed(Client& client, Output& out);
  void peek_reserved(Client& client, Output& out);
  void flush_tube(Client& client, const FlushTube& command, Output& out);
  void move_jobs(Client& client, const MoveJobs& command, Output& out);
  bool promote_due(Tube& tube, std::uint32_t budget);  // true if nothing due is left
  void list_jobs(Client& client, const ListJobs& command, Output& out);
  void stats_tubes(Client& client, Output& out);
  void close(Client& client, Output& out);  // the rest of a disconnect
  void do_slice(Output& out);
  void abandon_work(Client& client, Output& out);

  // flush.cc
  // Returns how many.
  std::uint64_t flush(Tube& tube, std::optional<JobState> state, Output& out);
  void free_flushed();
  Tube& free_one(Flushed& cut);  // whose it was
  [[nodiscard]] PackedIds reserved_in(const Tube& tube);

  // transitions.cc
  void insert(Job& job, Tube& tube, const Place& place);
  void move(Job& job, const Place& place);
  // With another priority, which changes between the two places: either counts and orders by it.
  void move(Job& job, const Place& place, std::uint32_t pri);
  // To another tube, in the same state; `bury_order` only if it is buried.
  void move_to(Tube& tube, Job& job, std::uint64_t bury_order);
  // Takes all jobs of a state out of the tube, dead, to be freed.
  void cut_off(Tube& tube, JobState state, Flushed& to);
  // Stays where it is, but for the order of ready jobs.
  void set_pri(Job& job, std::uint32_t pri);
  void remove(Job& job);       // and destroys it
  void remove_dead(Job& job);  // the same, after cut_off(), when it is in no container any more
  void set_counter(Job& job, std::uint32_t Job::*counter, std::uint32_t value);
  void count_up(Job& job, std::uint32_t Job::*counter) {
    set_counter(job, counter, job.*counter + 1);
  }
  // Keeps `pending` right; to be called after any change to a tube's front job, waiters or pause.
  void refresh(Tube& tube);

  // tubes.cc
  void pause_tube(Client& client, const PauseTube& command, Output& out);
  // A running pause stands in `its_segment`.
  void set_pause(Tube& tube, std::uint32_t delay, Time until, std::uint32_t its_segment);
  void end_pause(Tube& tube, Output& out);
  [[nodiscard]] bool is_needed(const Tube& tube) const;
  void vanish_if_unneeded(Tube& tube, Output& out);
  [[nodiscard]] TubeTimers& timers_of(Tube& tube);

  // statistics.cc
  [[nodiscard]] EngineStats stats() const;
  [[nodiscard]] JobStats stats_of(const Job& job) const;
  [[nodiscard]] TubeStats stats_of(const Tube& tube) const;
  void stats_job(Client& client, JobId id, Output& out);
  void stats_tube(Client& client, std::string_view name, Output& out);

  // log.cc
  void set_log_state(LogState its_state);
  [[nodiscard]] bool log_failed() const { return log_state == LogState::kFailed; }
  void raise_marks(JobId id, std::uint64_t bury_order);  // what counts as given; never lowers
  void stand_in(Job& job, std::uint32_t number);         // a segment
  void count_pause(Pause& pause, std::uint32_t number);
  void uncount_pause(Pause& pause);
  void log_again(Job& job, std::uint32_t from, Output& out);
  void log_again(Pause& pause, Output& out);
  JobId log_again_after(JobId after, std::uint32_t from, std::uint32_t budget, Output& out);
  bool log_pauses_again(std::uint32_t from, std::uint32_t budget, Output& out);
  // Null if there is no such tube, or if it is not paused.
  [[nodiscard]] Pause* running_pause(std::string_view name);

  // The job of that id; null if there is none, or if it is flushed.
  [[nodiscard]] Job* find(JobId id) const;
  // The first job with an id above `after` that is not flushed; flushed ones are passed over, and
  // taken off `skips`. Null with skips left: there is none. Null with none left: go on from
  // `after`.
  [[nodiscard]] Job* next_job(JobId& after, std::uint32_t& skips) const;

  // apply.cc
  void apply(const Record& record, std::uint32_t its_segment);

  // check.cc
  void check() const;

  void reply(Output& out, const Client& client, ReplyWord word, std::uint64_t number = 0,
             std::string_view text = {}, Buffer* buffer = nullptr) const {
    out.replies.push_back({client.id, word, number, text, buffer});
  }
  void reply_details(Output& out, const Client& client, ReplyDetails details,
                     bool goes_on = false) const {
    out.details = std::move(details);
    reply(out, client, ReplyWord::kOk);
    out.replies.back().goes_on = goes_on;
  }
  template <class R>
  void record(Output& out, const R& what) const {
    if (options.recording && !log_failed()) out.records.emplace_back(what);
  }

  Options options;
  Time now{};
  bool draining = false;

  JobStore jobs;  // flushed ones too
  TubeRegistry tubes;
  Tube& default_tube;
  std::vector<std::unique_ptr<Client>> clients;  // by index_of(id); null if not given
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_clients;

  TimerWheel<Waker, &Waker::links> expiries;  // promotions, ends of pauses, ttrs
  TimerWheel<Waker, &Waker::links> waits;     // TIMED_OUT, DEADLINE_SOON
  Heap<PendingTube> pending;
  std::deque<Flushed> flushed;
  std::string flushed_reserved;               // what the last FlushRecord points to
  List<Client, &Client::work_links> working;  // clients with long commands, served in turn

  LogState log_state = LogState::kOk;
  std::uint32_t segment = 0;     // where what is recorded now stands
  SegmentCounts segments;        // of jobs and running pauses
  std::uint64_t live_bytes = 0;  // what logging those again takes; flushed jobs until freed
  List<Pause, &Pause::running> running_pauses;  // by segment, ascending

  JobId last_id = 0;
  std::uint64_t last_bury_order = 0;
  std::uint64_t last_client_number = 0;

  JobCounts counts;
  CommandCounts commands;
  std::uint64_t job_timeouts = 0;
  std::uint64_t total_jobs = 0;
  std::uint64_t connection_count = 0;
  std::uint64_t producer_count = 0;
  std::uint64_t worker_count = 0;
  std::uint64_t waiting_count = 0;
};

}  // namespace xylem
