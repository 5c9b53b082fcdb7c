// The commands of our own in the twin, and their slices, in the order of protocol.md. Like all of
// the twin they are written from that page, by scanning everything, and share no code with the
// engine.
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
  for (std::uint32_t i = 0; i < budget_ && !work.tubes.empty(); ++i) {
    const auto found = std::ranges::find(tubes, work.tubes.front(), &Tube::number);
    if (found != tubes.end()) work.told.emplace_back(stats_of(*found), found->name);
    work.tubes.erase(work.tubes.begin());
  }
}

}  // namespace xylem::simulation
