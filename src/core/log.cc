// What the engine knows of its log: how it is, in which segment each live job and running pause
// stands, and what logging them again takes. Compaction logs again what stands in the oldest
// segment, and when nothing does the segment may go: whatever else it says is said anew, or undone,
// by later ones.
#include "state.h"

namespace xylem {

void Engine::State::set_log_state(LogState its_state) {
  if (log_state == LogState::kFailed) return;
  log_state = its_state;
  while (log_failed() && !pending.empty()) refresh(*pending.top().tube);
}

void Engine::State::stand_in(Job& job, std::uint32_t number) {
  segments.remove(job.segment);
  job.segment = number;
  segments.add(number);
}

void Engine::State::count_pause(Pause& pause, std::uint32_t number) {
  pause.segment = number;
  segments.add(number);
  live_bytes += pause_bytes(pause.end.tube->name->size());
  Pause* before = running_pauses.back();
  while (before != nullptr && before->segment > number) before = running_pauses.prev(*before);
  running_pauses.insert_after(before, pause);
}

void Engine::State::uncount_pause(Pause& pause) {
  segments.remove(pause.segment);
  live_bytes -= pause_bytes(pause.end.tube->name->size());
  running_pauses.erase(pause);
}

void Engine::State::log_again(Job& job, std::uint32_t from, Output& out) {
  if (job.segment != from || log_failed()) return;
  stand_in(job, segment);
  record(out, put_record(job));
}

void Engine::State::log_again(Pause& pause, Output& out) {
  if (log_failed()) return;
  uncount_pause(pause);
  count_pause(pause, segment);
  record(out, PauseRecord{*pause.end.tube->name, pause.seconds, pause.until});
}

JobId Engine::State::log_again_after(JobId after, std::uint32_t from, std::uint32_t budget,
                                     Output& out) {
  Job* job = jobs.at_or_after(after + 1);
  for (std::uint32_t n = 0; n < budget && job != nullptr; ++n) {
    if (!job->tube->has_flushed(*job)) log_again(*job, from, out);
    after = job->id;
    job = jobs.at_or_after(after + 1);
  }
  return job == nullptr ? 0 : after;
}

bool Engine::State::log_pauses_again(std::uint32_t from, std::uint32_t budget, Output& out) {
  if (log_failed() || from >= segment) return true;
  for (; budget > 0; --budget) {
    Pause* const oldest = running_pauses.front();
    if (oldest == nullptr || oldest->segment > from) return true;
    log_again(*oldest, out);
  }
  return false;
}

Pause* Engine::State::running_pause(std::string_view name) {
  const Tube* const tube = tubes.find(name);
  return tube == nullptr ? nullptr : tube->running_pause();
}

void Engine::State::raise_marks(JobId id, std::uint64_t bury_order) {
  last_id = std::max(last_id, id);
  last_bury_order = std::max(last_bury_order, bury_order);
}

void Engine::set_log_state(LogState state) { state_->set_log_state(state); }
void Engine::set_segment(std::uint32_t number) { state_->segment = number; }

void Engine::moved_to_segment(JobId id, std::uint32_t number) {
  if (Job* job = state_->find(id)) state_->stand_in(*job, number);
}

void Engine::moved_to_segment(std::string_view tube, std::uint32_t number) {
  Pause* const pause = state_->running_pause(tube);
  if (pause == nullptr) return;
  state_->uncount_pause(*pause);
  state_->count_pause(*pause, number);
}

std::uint64_t Engine::live_in(std::uint32_t segment) const { return state_->segments.of(segment); }
std::uint64_t Engine::live_bytes() const { return state_->live_bytes; }

void Engine::log_again(JobId id, std::uint32_t from, Output& out) {
  if (Job* job = state_->find(id)) state_->log_again(*job, from, out);
}

void Engine::log_again(std::string_view tube, std::uint32_t from, Output& out) {
  Pause* const pause = state_->running_pause(tube);
  if (pause != nullptr && pause->segment == from) state_->log_again(*pause, out);
}

bool Engine::is_freeing() const { return !state_->flushed.empty(); }

JobId Engine::log_again_after(JobId after, std::uint32_t from, std::uint32_t budget, Output& out) {
  return state_->log_again_after(after, from, budget, out);
}

bool Engine::log_pauses_again(std::uint32_t from, std::uint32_t budget, Output& out) {
  return state_->log_pauses_again(from, budget, out);
}

void Engine::raise_marks(JobId last_id, std::uint64_t last_bury_order) {
  state_->raise_marks(last_id, last_bury_order);
}

JobId Engine::last_id() const { return state_->last_id; }
std::uint64_t Engine::last_bury_order() const { return state_->last_bury_order; }

}  // namespace xylem
