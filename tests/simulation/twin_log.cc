// The twin and its log: in which segment everything stands, what is logged again, and the rebirth
// from what the log holds.
#include <algorithm>
#include <utility>

#include "twin.h"

namespace xylem::simulation {

void Twin::set_log_state(LogState state) {
  if (!log_failed()) log_state = state;
}

void Twin::pause(Tube& tube, std::uint32_t delay, Time until, std::uint32_t its_segment) {
  tube.pause = delay;
  tube.paused_until = until;
  tube.pause_segment = its_segment;
  tube.pause_recorded = ++last_pause_;
}

void Twin::moved_to_segment(JobId id, std::uint32_t number) {
  if (Job* job = find_job(id)) job->segment = number;
}

void Twin::moved_to_segment(std::string_view name, std::uint32_t number) {
  Tube* tube = find_tube(name);
  if (tube != nullptr && tube->pause != 0) pause(*tube, tube->pause, tube->paused_until, number);
}

void Twin::log_again(Job& job) {
  job.segment = segment;
  record(put_record(job));
}

void Twin::log_again(Tube& tube) {
  pause(tube, tube.pause, tube.paused_until, segment);
  record(PauseRecord{tube.name, tube.pause, tube.paused_until});
}

void Twin::log_again(JobId id, std::uint32_t from) {
  begin(now_);
  Job* job = find_job(id);
  if (job != nullptr && job->segment == from && !log_failed()) log_again(*job);
}

void Twin::log_again(std::string_view name, std::uint32_t from) {
  begin(now_);
  Tube* tube = find_tube(name);
  const bool there = tube != nullptr && tube->pause != 0 && tube->pause_segment == from;
  if (there && !log_failed()) log_again(*tube);
}

void Twin::log_all_again(std::uint32_t from) {
  begin(now_);
  if (log_failed()) return;
  std::vector<Job*> old_jobs;
  for (Job& job : jobs) {
    if (job.segment == from) old_jobs.push_back(&job);
  }
  std::ranges::sort(old_jobs, {}, &Job::id);
  for (Job* job : old_jobs) log_again(*job);
  std::vector<Tube*> pauses;
  for (Tube& tube : tubes) {
    if (tube.pause != 0 && tube.pause_segment <= from) pauses.push_back(&tube);
  }
  std::ranges::sort(pauses, {}, [](const Tube* tube) {
    return std::pair(tube->pause_segment, tube->pause_recorded);
  });
  for (Tube* tube : pauses) log_again(*tube);
}

std::uint64_t Twin::live_bytes() const {
  std::uint64_t sum = 0;
  for (const Job& job : jobs) {
    const bool placed = job.state == JobState::kDelayed || job.state == JobState::kBuried;
    const bool counted = job.reserves + job.timeouts + job.releases + job.buries + job.kicks != 0;
    sum += put_bytes(tube(job.tube).name.size(), job.body.size(), placed, counted);
  }
  for (const Tube& tube : tubes) sum += tube.pause == 0 ? 0 : pause_bytes(tube.name.size());
  return sum;
}

std::uint64_t Twin::live_in(std::uint32_t number) const {
  const auto pauses = std::ranges::count_if(tubes, [number](const Tube& tube) {
    return tube.pause != 0 && tube.pause_segment == number;
  });
  return static_cast<std::uint64_t>(std::ranges::count(jobs, number, &Job::segment) + pauses);
}

// A crash: clients and statistics are gone, jobs that were reserved are ready, and tubes are there
// as the records make them, in the order in which they are first named; one without jobs lives as
// long as its pause.
Twin Twin::rebuilt(std::span<const FoundRecord> history, JobId given) const {
  Twin fresh(budget_);
  fresh.segment = segment;
  fresh.bury_order = bury_order;
  fresh.next_id = given + 1;
  for (const FoundRecord& found : history) fresh.remember(found);
  for (const Job& old : jobs) {
    Job job = old;
    if (job.state == JobState::kReserved) make_ready(job);
    job.tube = fresh.find_job(job.id)->tube;
    *fresh.find_job(job.id) = job;
  }
  return fresh;
}

// What a record says of ids and tubes; what it says of a job is known.
void Twin::remember(const FoundRecord& found) {
  const Record& record = found.record;
  if (const auto* put = std::get_if<PutRecord>(&record)) {
    next_id = std::max(next_id, put->id + 1);
    if (find_job(put->id) == nullptr) jobs.emplace_back().id = put->id;
    const Serial before = std::exchange(find_job(put->id)->tube, tube_named(put->tube));
    drop_tube(before);
  } else if (const auto* move = std::get_if<MoveRecord>(&record)) {
    if (Job* job = find_job(move->id)) {
      const Serial before = std::exchange(job->tube, tube_named(move->tube));
      drop_tube(before);
    }
  } else if (const auto* flush = std::get_if<FlushRecord>(&record)) {
    std::erase_if(jobs,
                  [&](const Job& job) { return std::ranges::count(found.flushed, job.id) != 0; });
    if (const Tube* tube = find_tube(flush->tube)) drop_tube(tube->number);
  } else if (const auto* del = std::get_if<DeleteRecord>(&record)) {
    const Job* job = find_job(del->id);
    if (job == nullptr) return;  // what told of it has been dropped
    const Serial number = job->tube;
    std::erase_if(jobs, [&](const Job& each) { return each.id == del->id; });
    drop_tube(number);
  } else if (const auto* pause = std::get_if<PauseRecord>(&record)) {
    const Serial number = tube_named(pause->tube);
    Tube& tube = *std::ranges::find(tubes, number, &Tube::number);
    this->pause(tube, pause->delay, pause->until, found.segment);
    tube.recovered_pause = tube.pause != 0;
    drop_tube(number);
  }
}

}  // namespace xylem::simulation
