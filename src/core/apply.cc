// Recovery: records of an earlier engine, in their order, give its jobs back. Reserved jobs come
// back ready, since a reserve leaves only a note. Delays that ran out meanwhile are promoted by the
// first tick. Statistics start anew.
#include "state.h"

namespace xylem {
namespace {

void apply_put(Engine::State& state, const PutRecord& put, std::uint32_t segment) {
  Tube* before = nullptr;
  if (Job* older = state.find(put.id)) {  // a live job logged again, perhaps moved since
    before = older->tube;
    state.remove(*older);
  }
  Job& job = state.jobs.make(put.id, put.body, put.buffer);
  job.segment = segment;
  job.created_at = put.created_at;
  job.pri = put.pri;
  job.delay = put.delay;
  job.ttr = put.ttr;
  job.reserves = put.reserves;
  job.timeouts = put.timeouts;
  job.releases = put.releases;
  job.buries = put.buries;
  job.kicks = put.kicks;
  state.raise_marks(put.id, put.bury_order);
  const Place place = put.state == JobState::kDelayed  ? delayed_until(put.deadline_at)
                      : put.state == JobState::kBuried ? buried_as(put.bury_order)
                                                       : ready();
  state.insert(job, state.tubes.find_or_make(put.tube), place);
  Output unrecorded;
  if (before != nullptr) state.vanish_if_unneeded(*before, unrecorded);
}

void apply_delete(Engine::State& state, Job& job) {
  Tube& tube = *job.tube;
  state.remove(job);
  Output unrecorded;
  state.vanish_if_unneeded(tube, unrecorded);
}

void apply_release(Engine::State& state, Job& job, const ReleaseRecord& release) {
  job.delay = release.delay;
  state.count_up(job, &Job::releases);
  state.move(job, release.delay == 0 ? ready() : delayed_until(release.deadline_at), release.pri);
}

void apply_bury(Engine::State& state, Job& job, const BuryRecord& bury) {
  state.count_up(job, &Job::buries);
  state.move(job, buried_as(bury.bury_order), bury.pri);
}

void apply_pause(Engine::State& state, const PauseRecord& pause, std::uint32_t segment) {
  if (pause.delay == 0) {
    Tube* tube = state.tubes.find(pause.tube);
    Output unrecorded;
    if (tube != nullptr) state.end_pause(*tube, unrecorded);
    return;
  }
  Tube& tube = state.tubes.find_or_make(pause.tube);
  state.set_pause(tube, pause.delay, pause.until, segment);
  tube.running_pause()->recovered = true;
}

void apply_move(Engine::State& state, Job& job, const MoveRecord& move) {
  Tube& before = *job.tube;
  state.move_to(state.tubes.find_or_make(move.tube), job, move.bury_order);
  Output unrecorded;
  state.vanish_if_unneeded(before, unrecorded);
}

// Whether a job that is at rest in the tube was flushed. It may stand here as delayed though it was
// ready, or even reserved: a delay that ran out leaves no record.
bool is_flushed(const Job& job, const FlushRecord& flush) {
  if (flush.reserved.contains(job.id)) return false;
  if (!flush.state) return true;
  const bool was_due = job.state == JobState::kDelayed && job.deadline_at <= flush.at;
  return *flush.state == (was_due ? JobState::kReady : job.state);
}

void apply_flush(Engine::State& state, const FlushRecord& flush) {
  Tube* tube = state.tubes.find(flush.tube);
  if (tube == nullptr) return;
  std::vector<JobId> ids;
  const auto consider = [&](const Job& job) {
    if (is_flushed(job, flush)) ids.push_back(job.id);
  };
  tube->ready.for_each(consider);
  if (tube->timers != nullptr) tube->timers->delayed->for_each(consider);
  for (const Job* job = tube->buried.front(); job != nullptr; job = BuriedJobs::next(*job)) {
    consider(*job);
  }
  for (const JobId id : ids) state.remove(*state.find(id));
  Output unrecorded;
  state.vanish_if_unneeded(*tube, unrecorded);
}

}  // namespace

void Engine::State::apply(const Record& what, std::uint32_t its_segment) {
  CHECK(connection_count == 0);
  // Calls `then` with the job of that id, if there is one.
  const auto with = [this](JobId id, auto then) {
    if (Job* job = find(id)) then(*job);
  };
  std::visit(
      overloaded{
          [&](const PutRecord& r) { apply_put(*this, r, its_segment); },
          [&](const DeleteRecord& r) { with(r.id, [&](Job& j) { apply_delete(*this, j); }); },
          [&](const ReleaseRecord& r) { with(r.id, [&](Job& j) { apply_release(*this, j, r); }); },
          [&](const BuryRecord& r) {
            raise_marks(0, r.bury_order);  // also of an unknown job: it may be logged again later
            with(r.id, [&](Job& j) { apply_bury(*this, j, r); });
          },
          [&](const KickRecord& r) {
            with(r.id, [&](Job& j) { count_up(j, &Job::kicks), move(j, ready()); });
          },
          [&](const ReserveJobRecord& r) {
            with(r.id,
                 [&](Job& j) { set_counter(j, &Job::reserves, r.reserves), move(j, ready()); });
          },
          [&](const MoveRecord& r) {
            raise_marks(0, r.bury_order);
            with(r.id, [&](Job& j) { apply_move(*this, j, r); });
          },
          [&](const FlushRecord& r) { apply_flush(*this, r); },
          [&](const PriorityRecord& r) { with(r.id, [&](Job& j) { set_pri(j, r.pri); }); },
          [&](const PauseRecord& r) { apply_pause(*this, r, its_segment); },
          [&](const ReserveNote& r) {
            with(r.id, [&](Job& j) { set_counter(j, &Job::reserves, r.reserves); });
          },
          [&](const TimeoutNote& r) {
            with(r.id, [&](Job& j) { set_counter(j, &Job::timeouts, r.timeouts); });
          },
          [&](const IdNote& r) { raise_marks(r.id, 0); },
      },
      what);
}

}  // namespace xylem
