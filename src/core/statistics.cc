// What statistics show (protocol.md, "Statistics"). Nothing is counted here: all counts are kept as
// things happen, so that a statistic costs the same however much there is.
#include <algorithm>

#include "state.h"

namespace xylem {
namespace {

// Whole seconds until `deadline`, never below 0. Some time has always passed since it was set, even
// if it was less than a tick: a ttr of 3 shows 2 at once, as everybody is used to.
std::int64_t seconds_left(Time deadline, Time now) {
  return std::max<std::int64_t>(0, whole_seconds(deadline - now - Duration(1)));
}

bool has_deadline(const Job& job) {
  return job.state == JobState::kReserved || job.state == JobState::kDelayed;
}

}  // namespace

EngineStats Engine::State::stats() const {
  return {.jobs = counts,
          .commands = commands,
          .job_timeouts = job_timeouts,
          .total_jobs = total_jobs,
          .current_tubes = tubes.in_order().size(),
          .current_connections = connection_count,
          .current_producers = producer_count,
          .current_workers = worker_count,
          .current_waiting = waiting_count,
          .total_connections = last_client_number,
          .draining = draining};
}

JobStats Engine::State::stats_of(const Job& job) const {
  return {.id = job.id,
          .tube = *job.tube->name,
          .state = job.state,
          .pri = job.pri,
          .age = whole_seconds(now - job.created_at),
          .delay = job.delay,
          .ttr = job.ttr,
          .time_left = has_deadline(job) ? seconds_left(job.deadline_at, now) : 0,
          .file = job.segment,
          .reserves = job.reserves,
          .timeouts = job.timeouts,
          .releases = job.releases,
          .buries = job.buries,
          .kicks = job.kicks};
}

TubeStats Engine::State::stats_of(const Tube& tube) const {
  const Pause* pause = tube.running_pause();
  return {.name = *tube.name,
          .jobs = {.urgent = tube.urgent_count,
                   .ready = tube.ready_count,
                   .reserved = tube.reserved_count,
                   .delayed = tube.delayed_count,
                   .buried = tube.buried_count},
          .total_jobs = tube.total_jobs,
          .using_count = tube.using_count,
          .watching_count = tube.watching_count,
          .waiting_count = tube.waiting_count,
          .delete_count = tube.delete_count,
          .pause_count = tube.pause_count,
          .pause = pause == nullptr ? 0 : pause->seconds,
          .pause_time_left = pause == nullptr ? 0 : seconds_left(pause->until, now)};
}

void Engine::State::stats_job(Client& who, JobId id, Output& out) {
  const Job* job = find(id);
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  reply_details(out, who, stats_of(*job));
}

void Engine::State::stats_tube(Client& who, std::string_view name, Output& out) {
  const Tube* tube = tubes.find(name);
  if (tube == nullptr) return reply(out, who, ReplyWord::kNotFound);
  reply_details(out, who, stats_of(*tube));
}

}  // namespace xylem
