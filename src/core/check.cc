// Engine::check(): every invariant, recomputed from the jobs, tubes and clients themselves. Tests
// call it after every step; it is the definition of what "consistent" means here.
#include <array>
#include <map>
#include <set>

#include "state.h"

namespace xylem {
namespace {

using State = Engine::State;

struct Tally {
  JobCounts jobs;
  std::uint64_t live_bytes = 0;
  std::uint64_t flushed = 0;
  std::map<std::uint32_t, std::uint64_t> segments;  // jobs and running pauses by their segment
  std::map<const Tube*, JobCounts> by_tube;
  std::map<const Client*, std::uint64_t> held;
};

void add(JobCounts& counts, const Job& job) {
  switch (job.state) {
    case JobState::kReady:
      ++counts.ready;
      if (job.urgent()) ++counts.urgent;
      break;
    case JobState::kDelayed:
      ++counts.delayed;
      break;
    case JobState::kReserved:
      ++counts.reserved;
      break;
    case JobState::kBuried:
      ++counts.buried;
      break;
  }
}

void check_job(const State& state, const Job& job) {
  CHECK(job.id <= state.last_id);
  CHECK(job.ttr > 0);
  CHECK(!job.tube->gone);
  if (job.state == JobState::kReserved) {
    const Job::Holding& holding = job.holding;
    CHECK(holding.owner->reserved.at(holding.position).job == &job);
    CHECK(holding.owner->reserved.at(holding.position).deadline_at == job.deadline_at);
  }
}

Tally check_jobs(const State& state) {
  Tally tally;
  std::size_t seen = 0;
  for (const Job* job = state.jobs.at_or_after(1); job != nullptr;
       job = state.jobs.at_or_after(job->id + 1)) {
    ++seen;
    ++tally.segments[job->segment];
    const bool placed = job->state == JobState::kDelayed || job->state == JobState::kBuried;
    tally.live_bytes += put_bytes(job->tube->name->size(), job->body_bytes, placed, job->counted());
    if (job->tube->has_flushed(*job)) {
      ++tally.flushed;
      continue;
    }
    check_job(state, *job);
    add(tally.jobs, *job);
    add(tally.by_tube[job->tube], *job);
    if (job->state == JobState::kReserved) ++tally.held[job->holding.owner];
  }
  CHECK(seen == state.jobs.size());
  CHECK(tally.jobs == state.counts);
  for (const Flushed& each : state.flushed) {
    CHECK(!each.empty());
    tally.flushed -= each.ready.size() + (each.delayed == nullptr ? 0 : each.delayed->size());
    for (const Job* job = each.buried.front(); job != nullptr; job = BuriedJobs::next(*job)) {
      --tally.flushed;
    }
  }
  CHECK(tally.flushed == 0);
  return tally;
}

void check_containers(const Tube& tube) {
  tube.ready.check();
  std::uint64_t ready = 0;
  tube.ready.for_each([&](const Job& job) {
    CHECK(job.state == JobState::kReady && job.tube == &tube);
    ++ready;
  });
  CHECK(ready == tube.ready_count);
  std::uint64_t buried = 0;
  std::uint64_t order = 0;
  for (const Job* job = tube.buried.front(); job != nullptr; job = tube.buried.next(*job)) {
    CHECK(job->state == JobState::kBuried && job->tube == &tube && job->bury_order() > order);
    order = job->bury_order();
    ++buried;
  }
  CHECK(buried == tube.buried_count);
  CHECK(tube.timers != nullptr || tube.delayed_count == 0);
  if (tube.timers == nullptr) return;
  tube.timers->delayed->check();
  CHECK(tube.timers->delayed->size() == tube.delayed_count);
  tube.timers->delayed->for_each(
      [&](const Job& job) { CHECK(job.state == JobState::kDelayed && job.tube == &tube); });
}

// A waker may be early, never late.
void check_timers(const Tube& tube) {
  if (tube.timers == nullptr) return;
  tube.timers->delayed->for_each([&](const Job& job) {
    CHECK(tube.timers->promotion.armed);
    CHECK(tube.timers->promotion.deadline_at <= job.deadline_at);
  });
  const Pause* pause = tube.running_pause();
  CHECK(pause == nullptr || (pause->end.armed && pause->end.deadline_at <= pause->until));
}

void check_tube(const State& state, const Tube& tube, const Tally& tally) {
  const auto counted = tally.by_tube.find(&tube);
  const JobCounts jobs = counted == tally.by_tube.end() ? JobCounts{} : counted->second;
  CHECK(jobs.ready == tube.ready_count && jobs.urgent == tube.urgent_count);
  CHECK(jobs.reserved == tube.reserved_count && jobs.delayed == tube.delayed_count);
  CHECK(jobs.buried == tube.buried_count);
  check_containers(tube);
  check_timers(tube);
  // Nobody waits beside a ready job, unless a tick left the tube over.
  CHECK(tube.pending() ==
        (!tube.paused && !state.log_failed() && !tube.ready.empty() && !tube.waiting.empty()));
  if (tube.pending()) {
    const PendingTube& entry = state.pending.at(tube.pending_position);
    CHECK(entry.tube == &tube && entry.id == tube.ready.front()->id);
    CHECK(entry.pri == tube.ready.front()->pri);
  }
  CHECK(state.is_needed(tube));
}

struct References {
  std::map<const Tube*, std::uint64_t> users, watchers, waiters, uploads;
};

void check_waiting(const Client& client) {
  for (const Watching& watch : client.watches) {
    std::uint64_t found = 0;
    for (const Watching* w = watch.tube->waiting.front(); w != nullptr;
         w = watch.tube->waiting.next(*w)) {
      if (w == &watch) ++found;
    }
    CHECK(found == (client.waiting ? 1U : 0U));
  }
  const Time moment = std::min(client.wait_until, client.margin_at());
  if (!client.waiting || moment == kNever) return;
  CHECK(client.wait.armed && client.wait.deadline_at <= moment);
}

void check_client(const Client& client, const Tally& tally, References& references) {
  const auto held = tally.held.find(&client);
  CHECK(client.reserved.size() == (held == tally.held.end() ? 0 : held->second));
  if (client.gone) {
    CHECK(!client.ttr.armed);
  } else if (!client.reserved.empty()) {
    CHECK(client.ttr.armed && client.ttr.deadline_at <= client.reserved.top().deadline_at);
  }
  if (client.gone) {
    CHECK(!client.waiting && !client.upload && client.work != nullptr);
    CHECK(!client.watches.empty() || !client.reserved.empty());
  }
  CHECK((client.used == nullptr) == client.watches.empty());
  CHECK(client.gone || client.used != nullptr);
  if (client.used != nullptr) ++references.users[client.used];
  for (const Watching& watch : client.watches) {
    CHECK(watch.client == &client);
    ++references.watchers[watch.tube];
    if (client.waiting) ++references.waiters[watch.tube];
  }
  if (client.upload.has_value()) ++references.uploads[client.upload->tube];
  check_waiting(client);
}

void check_pauses(const State& state, Tally& tally) {
  std::uint64_t paused = 0;
  for (const Tube* tube : state.tubes.in_order()) paused += tube->paused ? 1U : 0U;
  std::uint32_t last = 0;
  for (const Pause* pause = state.running_pauses.front(); pause != nullptr;
       pause = state.running_pauses.next(*pause)) {
    CHECK(pause->end.tube->running_pause() == pause && pause->segment >= last);
    last = pause->segment;
    ++tally.segments[last];
    tally.live_bytes += pause_bytes(pause->end.tube->name->size());
    --paused;
  }
  CHECK(paused == 0);
}

// Nothing is counted in a segment but what was found there.
void check_log(const State& state, Tally& tally) {
  check_pauses(state, tally);
  CHECK(tally.live_bytes == state.live_bytes);
  for (const auto& [segment, count] : tally.segments) CHECK(state.segments.of(segment) == count);
  std::uint64_t all = state.jobs.size();
  for (const Tube* tube : state.tubes.in_order()) all += tube->paused ? 1U : 0U;
  CHECK(state.segments.sum() == all);
}

std::uint64_t count_of(const std::map<const Tube*, std::uint64_t>& counts, const Tube* tube) {
  const auto found = counts.find(tube);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

void Engine::State::check() const {
  Tally tally = check_jobs(*this);
  check_log(*this, tally);
  References references;
  std::uint64_t connections = 0, waiting = 0, producers = 0, workers = 0;
  for (const auto& client : clients) {
    if (client == nullptr) continue;
    check_client(*client, tally, references);
    if (client->gone) continue;
    ++connections;
    if (client->waiting) ++waiting;
    if (client->producer) ++producers;
    if (client->worker) ++workers;
  }
  CHECK(connections == connection_count && waiting == waiting_count);
  CHECK(producers == producer_count && workers == worker_count);
  std::size_t pending_tubes = 0;
  for (const Tube* tube : tubes.in_order()) {
    check_tube(*this, *tube, tally);
    CHECK(tube->using_count == count_of(references.users, tube));
    CHECK(tube->watching_count == count_of(references.watchers, tube));
    CHECK(tube->waiting_count == count_of(references.waiters, tube));
    CHECK(tube->upload_count == count_of(references.uploads, tube));
    if (tube->pending()) ++pending_tubes;
  }
  CHECK(pending_tubes == pending.size());
  pending.check();
  expiries.check();
  waits.check();
}

}  // namespace xylem
