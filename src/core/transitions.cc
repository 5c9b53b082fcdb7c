// Where a job is. A job enters a place, moves to another, and leaves for good; each time its state,
// its container and the counts change together, here and nowhere else; so do its own counters and
// the live bytes of the log. Timers that the new place needs are armed here too.
#include "state.h"

namespace xylem {
namespace {

// Counts a job that enters or leaves its state.
void count(JobCounts& all, Tube& tube, const Job& job, bool enters) {
  const auto change = [enters](auto& number) { enters ? ++number : --number; };
  switch (job.state) {
    case JobState::kReady:
      change(all.ready), change(tube.ready_count);
      if (job.urgent()) change(all.urgent), change(tube.urgent_count);
      break;
    case JobState::kDelayed:
      change(all.delayed), change(tube.delayed_count);
      break;
    case JobState::kReserved:
      change(all.reserved), change(tube.reserved_count);
      break;
    case JobState::kBuried:
      change(all.buried), change(tube.buried_count);
      break;
  }
}

// Behind the last that was buried before it: at the end, but for recovery.
void insert_buried(Tube& tube, Job& job) {
  Job* before = tube.buried.back();
  while (before != nullptr && before->bury_order() > job.bury_order()) {
    before = tube.buried.prev(*before);
  }
  tube.buried.insert_after(before, job);
}

// What logging it again takes.
std::uint64_t log_bytes(const Job& job) {
  const bool placed = job.state == JobState::kDelayed || job.state == JobState::kBuried;
  return put_bytes(job.tube->name->size(), job.body_bytes, placed, job.counted());
}

void leave(Engine::State& state, Job& job) {
  Tube& tube = *job.tube;
  state.live_bytes -= log_bytes(job);
  count(state.counts, tube, job, false);
  switch (job.state) {
    case JobState::kReady:
      tube.ready.erase(job);
      state.refresh(tube);
      break;
    case JobState::kDelayed:
      tube.timers->delayed->cancel(job);
      break;
    case JobState::kReserved:
      job.holding.owner->reserved.erase(job.holding.position);
      break;
    case JobState::kBuried:
      tube.buried.erase(job);
      break;
  }
}

void enter(Engine::State& state, Job& job, const Place& place) {
  Tube& tube = *job.tube;
  job.state = place.state;
  job.deadline_at = place.deadline_at;
  job.flush = tube.flush_count;
  state.live_bytes += log_bytes(job);
  count(state.counts, tube, job, true);
  switch (place.state) {
    case JobState::kReady:
      tube.ready.insert(job);
      state.refresh(tube);
      break;
    case JobState::kDelayed: {
      TubeTimers& timers = state.timers_of(tube);
      timers.delayed->schedule(job, state.now);
      state.arm_if_earlier(state.expiries, timers.promotion, job.deadline_at, tube.number, job.id);
      break;
    }
    case JobState::kReserved: {
      Client& owner = *place.owner;
      job.holding.owner = &owner;
      owner.reserved.push({job.deadline_at, &job});
      state.arm_if_earlier(state.expiries, owner.ttr, job.deadline_at, tube.number, job.id);
      break;
    }
    case JobState::kBuried:
      insert_buried(tube, job);
      break;
  }
}

}  // namespace

bool earlier(const Job& a, const Job& b) {
  if (a.deadline_at != b.deadline_at) return a.deadline_at < b.deadline_at;
  if (a.tube != b.tube) return a.tube->number < b.tube->number;
  return a.id < b.id;
}

void Engine::State::insert(Job& job, Tube& tube, const Place& place) {
  job.tube = &tube;
  segments.add(job.segment);
  enter(*this, job, place);
}

void Engine::State::move(Job& job, const Place& place) { move(job, place, job.pri); }

void Engine::State::move(Job& job, const Place& place, std::uint32_t pri) {
  leave(*this, job);
  job.pri = pri;
  enter(*this, job, place);
}

void Engine::State::move_to(Tube& tube, Job& job, std::uint64_t bury_order) {
  Place place = ready();
  if (job.state == JobState::kDelayed) place = delayed_until(job.deadline_at);
  if (job.state == JobState::kBuried) place = buried_as(bury_order);
  CHECK(job.state == place.state);
  leave(*this, job);
  job.tube = &tube;
  enter(*this, job, place);
}

void Engine::State::cut_off(Tube& tube, JobState state, Flushed& to) {
  tube.flushed[static_cast<std::size_t>(state)] = tube.flush_count;
  switch (state) {
    case JobState::kReady:
      counts.ready -= std::exchange(tube.ready_count, 0);
      counts.urgent -= std::exchange(tube.urgent_count, 0);
      to.ready = std::exchange(tube.ready, {});
      return refresh(tube);
    case JobState::kDelayed:
      counts.delayed -= std::exchange(tube.delayed_count, 0);
      if (tube.timers == nullptr) return;
      to.delayed = std::exchange(tube.timers->delayed, std::make_unique<DelayedJobs>());
      return;
    case JobState::kBuried:
      counts.buried -= std::exchange(tube.buried_count, 0);
      to.buried = std::exchange(tube.buried, {});
      return;
    case JobState::kReserved:
      CHECK(false);
  }
}

void Engine::State::set_pri(Job& job, std::uint32_t pri) {
  if (job.state == JobState::kReady) return move(job, ready(), pri);
  job.pri = pri;
}

void Engine::State::remove(Job& job) {
  leave(*this, job);
  segments.remove(job.segment);
  jobs.destroy(job);
}

void Engine::State::remove_dead(Job& job) {
  live_bytes -= log_bytes(job);
  segments.remove(job.segment);
  jobs.destroy(job);
}

void Engine::State::set_counter(Job& job, std::uint32_t Job::*counter, std::uint32_t value) {
  const std::uint64_t before = log_bytes(job);
  job.*counter = value;
  live_bytes += log_bytes(job) - before;
}

void Engine::State::refresh(Tube& tube) {
  if (tube.waiting.empty() || tube.paused || log_failed() || tube.ready.empty()) {
    if (tube.pending()) {
      pending.erase(tube.pending_position);
      tube.pending_position = Tube::kNotPending;
    }
    return;
  }
  const Job& front = *tube.ready.front();
  const PendingTube entry{front.pri, front.id, &tube};
  tube.pending() ? pending.replaced(tube.pending_position, entry) : pending.push(entry);
}

}  // namespace xylem
