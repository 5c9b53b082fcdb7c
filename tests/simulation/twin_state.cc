// What the commands and the ticks of the twin stand on: transitions of jobs, tubes and waits,
// questions about them, and answers. All are scans; nothing is counted but what cannot be counted
// again.
#include <algorithm>
#include <utility>

#include "text.h"
#include "twin.h"

namespace xylem::simulation {
namespace {

bool ready_order(const Job& a, const Job& b) {
  return std::pair(a.pri, a.id) < std::pair(b.pri, b.id);
}

// Of jobs of one tube.
bool comes_before(const Job& a, const Job& b) {
  if (a.state == JobState::kReady) return ready_order(a, b);
  if (a.state == JobState::kBuried) return a.bury_order < b.bury_order;
  return std::pair(a.deadline_at, a.id) < std::pair(b.deadline_at, b.id);
}

}  // namespace

// Transitions.

void Twin::make_ready(Job& job) {
  job.state = JobState::kReady;
  job.owner = 0;
}

void Twin::end_wait(Client& client) {
  client.waiting = false;
  client.wait_end = kNever;
}

Serial Twin::tube_named(std::string_view name) {
  if (const Tube* tube = find_tube(name)) return tube->number;
  Tube& made = tubes.emplace_back();
  made.number = ++last_tube_;
  made.name = name;
  return made.number;
}

// The last of the list takes the place of what goes.
void Twin::ignore_tube(Client& client, Serial number) {
  *std::ranges::find(client.watched, number) = client.watched.back();
  client.watched.pop_back();
  drop_tube(number);
}

// Something that kept the tube has gone: the tube goes if that was the last. The last of the list
// takes its place.
void Twin::drop_tube(Serial number) {
  const auto found = std::ranges::find(tubes, number, &Tube::number);
  if (found == tubes.end() || found->name == "default" || found->recovered_pause) return;
  for (const Job& job : jobs) {
    if (job.tube == number) return;
  }
  for (const Work& work : works) {
    if (work.kind == Work::Kind::kMove && (work.tube == number || work.to == number)) return;
  }
  for (const Client& each : clients) {
    if (each.used == number || std::ranges::count(each.watched, number) != 0) return;
    if (each.upload && each.upload->tube == number) return;
  }
  if (found->pause != 0) record(PauseRecord{found->name, 0, {}});
  std::swap(*found, tubes.back());
  tubes.pop_back();
}

// Questions.

Job* Twin::find_job(JobId id) {
  const auto found = std::ranges::find(jobs, id, &Job::id);
  return found == jobs.end() ? nullptr : &*found;
}

Job* Twin::owned(const Client& client, JobId id) {
  Job* job = find_job(id);
  return job != nullptr && job->owner == client.serial ? job : nullptr;
}

Tube* Twin::find_tube(std::string_view name) {
  const auto found = std::ranges::find(tubes, name, &Tube::name);
  return found == tubes.end() ? nullptr : &*found;
}

const Tube& Twin::tube(Serial number) const {
  return *std::ranges::find(tubes, number, &Tube::number);
}

Client& Twin::client(Serial serial) { return *std::ranges::find(clients, serial, &Client::serial); }

Client& Twin::client(ClientId id) { return *std::ranges::find(clients, id, &Client::id); }

Job* Twin::first(Serial tube, JobState state) {
  Job* best = nullptr;
  for (Job& job : jobs) {
    if (job.tube != tube || job.state != state) continue;
    if (best == nullptr || comes_before(job, *best)) best = &job;
  }
  return best;
}

// Of all its watched tubes that are not paused.
Job* Twin::best_for(const Client& client) {
  Job* best = nullptr;
  for (const Serial number : client.watched) {
    Job* job = tube(number).pause == 0 && !log_failed() ? first(number, JobState::kReady) : nullptr;
    if (job != nullptr && (best == nullptr || ready_order(*job, *best))) best = job;
  }
  return best;
}

JobCounts Twin::counts(Serial tube) const {
  JobCounts all;
  for (const Job& job : jobs) {
    if (tube != 0 && job.tube != tube) continue;
    all.ready += job.state == JobState::kReady ? 1 : 0;
    all.urgent += job.state == JobState::kReady && job.pri < limits::kUrgentBelow ? 1 : 0;
    all.reserved += job.state == JobState::kReserved ? 1 : 0;
    all.delayed += job.state == JobState::kDelayed ? 1 : 0;
    all.buried += job.state == JobState::kBuried ? 1 : 0;
  }
  return all;
}

EngineStats Twin::stats() const {
  EngineStats all{.jobs = counts(0),
                  .commands = commands_,
                  .job_timeouts = job_timeouts_,
                  .total_jobs = total_jobs_,
                  .current_tubes = tubes.size(),
                  .total_connections = total_connections_,
                  .draining = draining};
  for (const Client& each : clients) {
    if (each.gone) continue;
    ++all.current_connections;
    all.current_producers += each.producer ? 1 : 0;
    all.current_workers += each.worker ? 1 : 0;
    all.current_waiting += each.waiting ? 1 : 0;
  }
  return all;
}

JobStats Twin::stats_of(const Job& job) const {
  const bool timed = job.state == JobState::kDelayed || job.state == JobState::kReserved;
  // A tick less: some time has always passed.
  const Duration left =
      timed ? std::max(job.deadline_at - now_ - Duration(1), Duration(0)) : Duration(0);
  return {.id = job.id,
          .tube = tube(job.tube).name,
          .state = job.state,
          .pri = job.pri,
          .age = whole_seconds(now_ - job.created_at),
          .delay = job.delay,
          .ttr = job.ttr,
          .time_left = whole_seconds(left),
          .file = job.segment,
          .reserves = job.reserves,
          .timeouts = job.timeouts,
          .releases = job.releases,
          .buries = job.buries,
          .kicks = job.kicks};
}

TubeStats Twin::stats_of(const Tube& tube) const {
  const Duration left = std::max(tube.paused_until - now_ - Duration(1), Duration(0));
  TubeStats said{.name = tube.name,
                 .jobs = counts(tube.number),
                 .total_jobs = tube.total_jobs,
                 .delete_count = tube.delete_count,
                 .pause_count = tube.pause_count,
                 .pause = tube.pause,
                 .pause_time_left = tube.pause == 0 ? 0 : whole_seconds(left)};
  for (const Client& each : clients) {
    const bool watches = std::ranges::count(each.watched, tube.number) != 0;
    said.using_count += each.used == tube.number ? 1 : 0;
    said.watching_count += watches ? 1 : 0;
    said.waiting_count += watches && each.waiting ? 1 : 0;
  }
  return said;
}

// Answers.

void Twin::say(const Client& client, ReplyWord word, std::uint64_t number, std::string_view text) {
  replies.push_back(
      text_of(Reply{.client = client.id, .word = word, .number = number, .text = text}, {}));
}

void Twin::say(const Client& client, const ReplyDetails& details, bool goes_on) {
  replies.push_back(
      text_of(Reply{.client = client.id, .word = ReplyWord::kOk, .goes_on = goes_on}, details));
}

void Twin::say_job(const Client& client, const Job* job) {
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  say(client, ReplyWord::kFound, job->id, job->body);
}

void Twin::record(const Record& record) {
  if (!log_failed()) records.push_back(text_of(record));
}

PutRecord Twin::put_record(const Job& job) const {
  return {.id = job.id,
          .tube = tube(job.tube).name,
          .state = job.state == JobState::kReserved ? JobState::kReady : job.state,
          .pri = job.pri,
          .delay = job.delay,
          .ttr = job.ttr,
          .created_at = job.created_at,
          .deadline_at = job.deadline_at,
          .bury_order = job.bury_order,
          .reserves = job.reserves,
          .timeouts = job.timeouts,
          .releases = job.releases,
          .buries = job.buries,
          .kicks = job.kicks,
          .body = job.body};
}

}  // namespace xylem::simulation
