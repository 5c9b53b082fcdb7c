// The commands of our own in the twin, and their slices, in the order of protocol.md. Like all of
// the twin they are written from that page, by scanning everything, and share no code with the
// engine. What a list shows is copied when it is looked at; what moves or is flushed changes at
// once.
#include <algorithm>
#include <limits>
#include <utility>

#include "twin.h"

namespace xylem::simulation {

void Twin::run(Client& client, const Caps& caps) {
  ++commands_.caps;
  say(client, Capabilities{caps.admin});
}

// The job with the lowest id above `after`.
const Job* Twin::next_job(JobId after) const {
  const Job* next = nullptr;
  for (const Job& job : jobs) {
    if (job.id > after && (next == nullptr || job.id < next->id)) next = &job;
  }
  return next;
}

void Twin::run(Client& client, const ListJobs& list) {
  ++commands_.list_jobs;
  const Tube* tube = find_tube(list.tube);
  if (tube == nullptr) return say(client, ReplyWord::kNotFound);
  start({.kind = Work::Kind::kListJobs,
         .client = client.serial,
         .tube = tube->number,
         .left = std::min(list.count, limits::kJobsPerList),
         .after = list.after,
         .state = list.state});
}

bool Twin::slice_jobs(Work& work) {
  if (std::ranges::count(tubes, work.tube, &Tube::number) == 0) return true;
  for (std::uint32_t i = 0; i < budget_ && work.left > 0; ++i) {
    const Job* job = next_job(work.after);
    if (job == nullptr) return true;
    work.after = job->id;
    if (job->tube != work.tube || (work.state && job->state != *work.state)) continue;
    ListedJob& listed = work.listed.emplace_back();
    listed.stats = stats_of(*job);
    listed.stats.tube = {};
    listed.body_bytes = static_cast<std::uint32_t>(job->body.size());
    if (job->state == JobState::kBuried) listed.bury_order = job->bury_order;
    --work.left;
  }
  return work.left == 0;
}

void Twin::run(Client& client, const FlushTube& flush) {
  ++commands_.flush_tube;
  const Tube* tube = find_tube(flush.tube);
  if (tube == nullptr) return say(client, ReplyWord::kNotFound);
  start({.kind = Work::Kind::kFlush,
         .client = client.serial,
         .tube = tube->number,
         .state = flush.state});
}

bool Twin::slice_flush(Work& work) {
  if (std::ranges::count(tubes, work.tube, &Tube::number) == 0) return true;
  if (!work.state) {
    flush(work);
    return true;
  }
  // With a state given, what is due is promoted first.
  for (std::uint32_t i = 0; i < budget_; ++i) {
    Job* job = first(work.tube, JobState::kDelayed);
    if (job == nullptr || job->deadline_at > now_) {
      flush(work);
      return true;
    }
    make_ready(*job);
  }
  return false;
}

void Twin::flush(Work& work) {
  const auto is_flushed = [&](const Job& job) {
    return job.tube == work.tube && job.state != JobState::kReserved &&
           (!work.state || job.state == *work.state);
  };
  std::vector<JobId> gone;
  std::vector<JobId> reserved;
  for (const Job& job : jobs) {
    if (is_flushed(job)) gone.push_back(job.id);
    const bool is_named = job.tube == work.tube && job.state == JobState::kReserved;
    if (is_named && work.state.value_or(JobState::kReady) == JobState::kReady) {
      reserved.push_back(job.id);
    }
  }
  if (gone.empty()) return;
  work.failed = log_failed();
  if (work.failed) return;
  std::ranges::sort(reserved);
  std::string packed;
  for (const JobId id : reserved) {
    for (unsigned i = 0; i < 64; i += 8) packed.push_back(static_cast<char>(id >> i & 0xFFU));
  }
  record(FlushRecord{tube(work.tube).name, work.state, now_, {packed}});
  std::erase_if(jobs, is_flushed);
  work.kicked = gone.size();
  unfreed += gone.size();
  last_flushed = std::move(gone);
  drop_tube(work.tube);
}

void Twin::run(Client& client, const MoveJobs& move) {
  ++commands_.move_jobs;
  const Tube* from = find_tube(move.from);
  if (from == nullptr) return say(client, ReplyWord::kNotFound);
  if (move.from == move.to) return say(client, ReplyWord::kMoved, 0);
  const Serial number = from->number;
  const auto there = static_cast<std::uint64_t>(std::ranges::count_if(
      jobs, [&](const Job& job) { return job.tube == number && job.state == move.state; }));
  start({.kind = Work::Kind::kMove,
         .client = client.serial,
         .tube = number,
         .from = move.state,
         .left = std::min<std::uint64_t>(move.count, there),
         .to = tube_named(move.to)});
}

void Twin::slice_move(Work& work) {
  work.failed = work.left > 0 && log_state != LogState::kOk;
  if (work.failed) work.left = 0;
  for (std::uint32_t i = 0; i < budget_ && work.left > 0; ++i) {
    Job* job = first(work.tube, work.from);
    if (job == nullptr) work.left = 0;
    if (work.left == 0) break;
    job->tube = work.to;
    if (job->state == JobState::kBuried) job->bury_order = ++bury_order;
    for (Tube& tube : tubes) tube.total_jobs += tube.number == work.to ? 1 : 0;
    record(MoveRecord{job->id, tube(work.to).name,
                      job->state == JobState::kBuried ? job->bury_order : 0});
    --work.left;
    ++work.kicked;
  }
  if (work.left > 0) return;
  const Serial from = std::exchange(work.tube, 0);
  const Serial to = std::exchange(work.to, 0);
  drop_tube(from);
  drop_tube(to);
}

void Twin::run(Client& client, const Reprioritize& reprioritize) {
  ++commands_.reprioritize;
  Job* job = find_job(reprioritize.id);
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  job->pri = reprioritize.pri;
  record(PriorityRecord{job->id, job->pri});
  say(client, ReplyWord::kReprioritized);
}

void Twin::run(Client& client, const PeekReserved&) {
  ++commands_.peek_reserved;
  start({.kind = Work::Kind::kPeekReserved, .client = client.serial, .tube = client.used});
}

// Gives up when there is none; what is reserved behind the walk is not seen.
bool Twin::slice_peek(Work& work) {
  if (counts(work.tube).reserved == 0) return true;
  for (std::uint32_t i = 0; i < budget_; ++i) {
    const Job* job = next_job(work.after);
    if (job == nullptr) return true;
    if (job->tube == work.tube && job->state == JobState::kReserved) {
      work.found = *job;
      return true;
    }
    work.after = job->id;
  }
  return false;
}

void Twin::run(Client& client, const Drain&) {
  ++commands_.drain;
  draining = true;
  say(client, ReplyWord::kDraining);
}

void Twin::run(Client& client, const Undrain&) {
  ++commands_.undrain;
  draining = false;
  say(client, ReplyWord::kNotDraining);
}

void Twin::run(Client& client, const StatsTubes&) {
  ++commands_.stats_tubes;
  Work work{.kind = Work::Kind::kStatsTubes, .client = client.serial};
  for (const Tube& tube : tubes) work.tubes.push_back(tube.number);
  start(std::move(work));
}

// Tubes that have gone meanwhile are passed over.
void Twin::slice_tubes(Work& work) {
  TubeStatsList part;
  for (std::uint32_t i = 0; i < budget_ && !work.tubes.empty(); ++i) {
    const auto found = std::ranges::find(tubes, work.tubes.front(), &Tube::number);
    if (found != tubes.end()) part.tubes.push_back(stats_of(*found));
    work.tubes.erase(work.tubes.begin());
  }
  say(client(work.client), part, !work.tubes.empty());
}

}  // namespace xylem::simulation
