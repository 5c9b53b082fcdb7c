// The naive twin of the engine: what protocol.md says, in vectors and linear scans. It is written
// from the documents, not from src/core, so that the two can only agree by both being right. Each
// call has the meaning of the engine's call of that name (core/engine.h) and puts what the engine
// should have said into `replies` and `records`, as text.
//
// Everything is public: the simulation looks at the state to make up commands that mean something.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xylem/core/command.h"
#include "xylem/core/record.h"
#include "xylem/core/reply.h"
#include "xylem/core/time.h"

namespace xylem::simulation {

// Names a client, a tube or a wait, in the order of their beginning; 0 names none.
using Serial = std::uint64_t;

struct Job {
  JobId id = 0;
  Serial tube = 0;
  JobState state = JobState::kReady;
  std::uint32_t pri = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  Time created_at{};
  Time deadline_at{};            // of delayed and reserved ones
  std::uint64_t bury_order = 0;  // of buried ones
  Serial owner = 0;              // of reserved ones
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  std::uint32_t segment = 0;  // of the log, where its latest put record stands
  std::string body;
};

struct Tube {
  Serial number = 0;  // tubes count up as they are made
  std::string name;
  std::uint32_t pause = 0;  // seconds; 0 is not paused
  Time paused_until{};
  std::uint32_t pause_segment = 0;  // of the log, where the record of the pause stands
  Serial pause_recorded = 0;        // orders pauses of one segment
  bool recovered_pause = false;     // by which the tube lives, till it ends
  std::uint64_t total_jobs = 0;
  std::uint64_t delete_count = 0;
  std::uint64_t pause_count = 0;
};

struct Client {
  ClientId id{};
  Serial serial = 0;  // clients count up as they connect
  Serial used = 0;
  std::vector<Serial> watched;
  bool producer = false;
  bool worker = false;
  bool half_closed = false;
  bool gone = false;      // but it has tubes or jobs still
  bool working = false;   // at a long command
  bool waiting = false;   // in reserve
  Serial wait_began = 0;  // waits count up
  Time wait_end{};
  std::optional<Job> upload;  // a put without its body
  std::uint32_t upload_bytes = 0;
  bool skipping_upload = false;  // that was too big

  [[nodiscard]] bool idle() const {
    return !gone && !working && !waiting && !upload && !skipping_upload;
  }
};

// A long command, or what a closed client has still to let go of.
struct Work {
  enum class Kind : std::uint8_t {
    kKick,
    kList,
    kRelease,
    kPeekReserved,
    kListJobs,
    kStatsTubes,
    kMove,
    kFlush
  };
  Kind kind = Kind::kKick;
  Serial client = 0;
  Serial tube = 0;                     // of a kick
  JobState from = JobState::kDelayed;  // of a kick
  std::uint64_t left = 0;              // of a kick
  std::uint64_t kicked = 0;            // of a kick
  bool failed = false;                 // of a kick, with the log
  std::vector<Serial> tubes{};         // of a list: those that it has still to name
  bool watched = false;                // of a list: those that the client watches
  Serial to = 0;                       // of a move; `tube`, `from`, `left`, `kicked` as a kick
  JobId after = 0;                     // of a walk over the jobs: the last that was looked at
  std::optional<JobState> state{};     // of list-jobs and flush-tube
  std::optional<Job> found{};          // of peek-reserved
  std::vector<ListedJob> listed{};     // of list-jobs, as they were when they were looked at
};

// When something runs out; id 0 is the end of a pause.
struct Expiry {
  Time at{};
  Serial tube = 0;
  JobId id = 0;
  auto operator<=>(const Expiry&) const = default;
};

// As it was found in a log.
struct FoundRecord {
  Record record;
  std::uint32_t segment = 0;
  std::vector<JobId> flushed;  // which jobs a flush took, as the twin knows
};

class Twin {
 public:
  explicit Twin(std::uint32_t budget);

  void connect(ClientId id);
  void disconnect(ClientId id, Time now);
  void half_close(ClientId id, Time now);
  void execute(ClientId id, const Command& command, Time now);
  void tick(Time now);
  // The twin after a crash; `history` is what the log holds, and ids up to `given` are given.
  [[nodiscard]] Twin rebuilt(std::span<const FoundRecord> history, JobId given) const;

  void set_log_state(LogState state);
  void moved_to_segment(JobId id, std::uint32_t number);
  void moved_to_segment(std::string_view tube, std::uint32_t number);
  void log_again(JobId id, std::uint32_t from);
  void log_again(std::string_view tube, std::uint32_t from);
  // Whatever stands in `from`, and pauses that stand before it: jobs by id, then pauses.
  void log_all_again(std::uint32_t from);
  [[nodiscard]] std::uint64_t live_bytes() const;
  [[nodiscard]] std::uint64_t live_in(std::uint32_t number) const;

  // When a tick has something to do, exactly.
  [[nodiscard]] Time next_deadline() const;
  [[nodiscard]] EngineStats stats() const;
  // The lowest that is free.
  [[nodiscard]] ClientId next_client_id() const;

  std::vector<std::string> replies;  // of the last call
  std::vector<std::string> records;
  bool draining = false;
  LogState log_state = LogState::kOk;
  std::uint32_t segment = 1;  // where what is recorded now stands
  JobId next_id = 1;
  std::uint64_t bury_order = 0;  // of the last
  std::vector<JobId> last_flushed;
  std::uint64_t unfreed = 0;  // flushed jobs whose memory is still there
  std::vector<Job> jobs;
  std::vector<Tube> tubes;      // as list-tubes has them
  std::vector<Client> clients;  // in the order of connecting
  std::vector<Work> works;      // the next in front

 private:
  // Commands.
  void run(Client& client, const PutLine& put);
  void run(Client& client, const PutBody& put);
  void run(Client& client, const PutSkipped&);
  void run(Client& client, const Use& use);
  void run(Client& client, const Reserve&);
  void run(Client& client, const ReserveWithTimeout& reserve);
  void run(Client& client, const ReserveJob& reserve);
  void run(Client& client, const Delete& del);
  void run(Client& client, const Release& release);
  void run(Client& client, const Bury& bury);
  void run(Client& client, const Touch& touch);
  void run(Client& client, const Watch& watch);
  void run(Client& client, const Ignore& ignore);
  void run(Client& client, const Peek& peek);
  void run(Client& client, const PeekReady&);
  void run(Client& client, const PeekDelayed&);
  void run(Client& client, const PeekBuried&);
  void run(Client& client, const Kick& kick);
  void run(Client& client, const KickJob& kick);
  void run(Client& client, const Stats&);
  void run(Client& client, const StatsJob& stats);
  void run(Client& client, const StatsTube& stats);
  void run(Client& client, const ListTubes&);
  void run(Client& client, const ListTubeUsed&);
  void run(Client& client, const ListTubesWatched&);
  void run(Client& client, const PauseTube& pause);
  void run(Client& client, const Caps& caps);
  void run(Client& client, const ListJobs& list);
  void run(Client& client, const FlushTube& flush);
  void run(Client& client, const MoveJobs& move);
  void run(Client& client, const Reprioritize& reprioritize);
  void run(Client& client, const PeekReserved&);
  void run(Client& client, const Drain&);
  void run(Client& client, const Undrain&);
  void run(Client& client, const StatsTubes&);

  // Parts of a tick.
  void expire(const Expiry& due);
  void match();
  void answer_waits(Time now, Time left_over);
  void start(Work work);
  bool slice(Work& work);  // true if it is done
  void slice_kick(Work& work);
  void slice_list(Work& work);
  void slice_release(const Work& work);
  bool slice_peek(Work& work);
  void slice_move(Work& work);
  bool slice_flush(Work& work);
  void flush(Work& work);
  bool slice_jobs(Work& work);
  void slice_tubes(Work& work);
  void answer(const Client& client, const Work& work);

  // Transitions.
  void begin(Time now);
  void reserve(Client& client, std::uint32_t timeout, bool for_ever);
  void hand_out(Job& job, Client& client);
  static void make_ready(Job& job);
  void kick_one(Job& job);
  void remember(const FoundRecord& found);
  void log_again(Job& job);
  void log_again(Tube& tube);
  void pause(Tube& tube, std::uint32_t delay, Time until, std::uint32_t its_segment);
  void end_wait(Client& client);
  Serial tube_named(std::string_view name);
  void drop_tube(Serial number);
  void ignore_tube(Client& client, Serial number);

  // Questions.
  [[nodiscard]] Job* find_job(JobId id);
  [[nodiscard]] Job* owned(const Client& client, JobId id);
  [[nodiscard]] Tube* find_tube(std::string_view name);
  [[nodiscard]] const Tube& tube(Serial number) const;
  [[nodiscard]] Client& client(Serial serial);
  [[nodiscard]] Client& client(ClientId id);
  [[nodiscard]] Job* first(Serial tube, JobState state);
  [[nodiscard]] Job* best_for(const Client& client);
  [[nodiscard]] Client* first_waiter(Serial tube);
  [[nodiscard]] bool log_failed() const { return log_state == LogState::kFailed; }
  [[nodiscard]] bool pending(Serial tube) const;
  [[nodiscard]] bool any_pending() const;
  [[nodiscard]] bool is_gone(Serial owner) const;
  [[nodiscard]] std::optional<Expiry> first_expiry() const;
  [[nodiscard]] std::optional<Expiry> first_due(Time now) const;
  [[nodiscard]] Time margin_of(const Client& client) const;
  [[nodiscard]] Time moment_of(const Client& client) const;
  [[nodiscard]] const Job* next_job(JobId after) const;
  [[nodiscard]] JobStats stats_of(const Job& job) const;
  [[nodiscard]] TubeStats stats_of(const Tube& tube) const;
  [[nodiscard]] JobCounts counts(Serial tube) const;  // 0: of all

  // Answers.
  void say(const Client& client, ReplyWord word, std::uint64_t number = 0,
           std::string_view text = {});
  void say(const Client& client, const ReplyDetails& details, bool goes_on = false);
  void say_job(const Client& client, const Job* job);
  void record(const Record& record);
  [[nodiscard]] PutRecord put_record(const Job& job) const;

  std::uint32_t budget_;
  Time now_{};
  CommandCounts commands_;
  std::uint64_t job_timeouts_ = 0;
  std::uint64_t total_jobs_ = 0;
  std::uint64_t total_connections_ = 0;
  Serial last_tube_ = 0;
  Serial last_client_ = 0;
  Serial last_wait_ = 0;
  Serial last_pause_ = 0;
};

}  // namespace xylem::simulation
