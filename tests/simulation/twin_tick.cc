// The twin when time passes: what a tick does, and long commands in slices. The order inside a tick
// is that of docs/decisions/0002.
#include <algorithm>
#include <utility>

#include "twin.h"

namespace xylem::simulation {

void Twin::tick(Time now) {
  begin(now);
  for (std::uint32_t i = 0; i < budget_; ++i) {
    const std::optional<Expiry> due = first_due(now);
    if (!due) break;
    expire(*due);
  }
  const std::optional<Expiry> left_over = first_due(now);
  if (!works.empty()) {
    Work work = std::move(works.front());
    works.erase(works.begin());
    start(std::move(work));
  }
  match();
  answer_waits(now, left_over ? left_over->at : kNever);
  unfreed -= std::min<std::uint64_t>(unfreed, budget_);
}

void Twin::expire(const Expiry& due) {
  if (due.id == 0) {
    Tube& tube = *std::ranges::find(tubes, due.tube, &Tube::number);
    tube.pause = 0;
    tube.recovered_pause = false;
    return drop_tube(due.tube);
  }
  Job& job = *find_job(due.id);
  if (job.state == JobState::kReserved) {
    ++job.timeouts;
    ++job_timeouts_;
    record(TimeoutNote{job.id, job.timeouts});
  }
  make_ready(job);
}

// The best job of all pending tubes goes to who has waited longest for its tube.
void Twin::match() {
  for (std::uint32_t i = 0; i < budget_; ++i) {
    Job* best = nullptr;
    for (const Tube& tube : tubes) {
      if (!pending(tube.number)) continue;
      Job* job = first(tube.number, JobState::kReady);
      if (best == nullptr || std::pair(job->pri, job->id) < std::pair(best->pri, best->id)) {
        best = job;
      }
    }
    if (best == nullptr) return;
    hand_out(*best, *first_waiter(best->tube));
  }
}

void Twin::answer_waits(Time now, Time left_over) {
  if (any_pending()) return;
  for (std::uint32_t i = 0; i < budget_; ++i) {
    Client* first = nullptr;
    for (Client& each : clients) {
      if (!each.waiting) continue;
      if (first == nullptr || moment_of(each) < moment_of(*first)) first = &each;
    }
    if (first == nullptr || moment_of(*first) > now) return;
    if (moment_of(*first) >= left_over) return;
    end_wait(*first);
    say(*first, margin_of(*first) <= now_ ? ReplyWord::kDeadlineSoon : ReplyWord::kTimedOut);
  }
}

// Long commands: a slice at once, and then they queue for one slice each in turn.

void Twin::start(Work work) {
  client(work.client).working = true;
  if (!slice(work)) return works.push_back(std::move(work));
  Client& who = client(work.client);
  who.working = false;
  answer(who, work);
  if (work.kind == Work::Kind::kRelease) {
    std::erase_if(clients, [&](const Client& each) { return each.serial == work.client; });
  }
}

void Twin::answer(const Client& who, const Work& work) {
  switch (work.kind) {
    case Work::Kind::kKick:
      if (work.failed) return say(who, ReplyWord::kInternalError);
      return say(who, ReplyWord::kKickedCount, work.kicked);
    case Work::Kind::kMove:
      if (!work.failed) return say(who, ReplyWord::kMoved, work.kicked);
      return say(who, log_failed() ? ReplyWord::kInternalError : ReplyWord::kOutOfMemory);
    case Work::Kind::kFlush:
      if (work.failed) return say(who, ReplyWord::kInternalError);
      return say(who, ReplyWord::kFlushed, work.kicked);
    case Work::Kind::kList:
    case Work::Kind::kStatsTubes:
    case Work::Kind::kRelease:
      return;  // each slice has said its part, or there is nothing to say
    case Work::Kind::kPeekReserved:
      return say_job(who, work.found ? &*work.found : nullptr);
    case Work::Kind::kListJobs:
      return say(who, JobList{work.listed});
  }
}

bool Twin::slice(Work& work) {
  switch (work.kind) {
    case Work::Kind::kKick:
      slice_kick(work);
      return work.left == 0;
    case Work::Kind::kList:
      slice_list(work);
      return work.tubes.empty();
    case Work::Kind::kRelease:
      slice_release(work);
      return client(work.client).watched.empty() &&
             std::ranges::count(jobs, work.client, &Job::owner) == 0;
    case Work::Kind::kMove:
      slice_move(work);
      return work.left == 0;
    case Work::Kind::kFlush:
      return slice_flush(work);
    case Work::Kind::kPeekReserved:
      return slice_peek(work);
    case Work::Kind::kListJobs:
      return slice_jobs(work);
    case Work::Kind::kStatsTubes:
      slice_tubes(work);
      return work.tubes.empty();
  }
  return true;
}

void Twin::slice_kick(Work& work) {
  work.failed = work.left > 0 && log_failed();
  if (work.failed) work.left = 0;
  for (std::uint32_t i = 0; i < budget_ && work.left > 0; ++i) {
    Job* job = first(work.tube, work.from);
    if (job == nullptr) {
      work.left = 0;
      return;
    }
    kick_one(*job);
    --work.left;
    ++work.kicked;
  }
}

// Tubes that have gone meanwhile are passed over.
void Twin::slice_list(Work& work) {
  std::string names;
  for (std::uint32_t i = 0; i < budget_ && !work.tubes.empty(); ++i) {
    const auto found = std::ranges::find(tubes, work.tubes.front(), &Tube::number);
    if (found != tubes.end()) names += found->name + "\n";
    work.tubes.erase(work.tubes.begin());
  }
  say(client(work.client), TubeList{names, work.watched}, !work.tubes.empty());
}

// The tubes go before the jobs, the used one behind those that were watched.
void Twin::slice_release(const Work& work) {
  Client& who = client(work.client);
  std::uint32_t i = 0;
  for (; i < budget_ && !who.watched.empty(); ++i) ignore_tube(who, who.watched.front());
  if (!who.watched.empty()) return;
  drop_tube(std::exchange(who.used, 0));
  for (; i < budget_; ++i) {
    Job* next = nullptr;
    Expiry least{.at = kNever};
    for (Job& job : jobs) {
      const Expiry key{job.deadline_at, job.tube, job.id};
      if (job.owner != work.client || (next != nullptr && least < key)) continue;
      next = &job;
      least = key;
    }
    if (next == nullptr) return;
    make_ready(*next);
  }
}

// Questions.

Client* Twin::first_waiter(Serial tube) {
  Client* longest = nullptr;
  for (Client& each : clients) {
    if (!each.waiting || std::ranges::count(each.watched, tube) == 0) continue;
    if (longest == nullptr || each.wait_began < longest->wait_began) longest = &each;
  }
  return longest;
}

// Not paused, with ready jobs and clients that wait for them.
bool Twin::pending(Serial number) const {
  if (tube(number).pause != 0 || log_failed()) return false;
  const bool waited_for = std::ranges::any_of(clients, [&](const Client& each) {
    return each.waiting && std::ranges::count(each.watched, number) != 0;
  });
  return waited_for && std::ranges::any_of(jobs, [&](const Job& job) {
           return job.tube == number && job.state == JobState::kReady;
         });
}

bool Twin::any_pending() const {
  return std::ranges::any_of(tubes, [&](const Tube& tube) { return pending(tube.number); });
}

bool Twin::is_gone(Serial owner) const {
  return std::ranges::find(clients, owner, &Client::serial)->gone;
}

// Jobs of a closed client wait for their slice, not for their ttr.
std::optional<Expiry> Twin::first_expiry() const {
  std::optional<Expiry> least;
  const auto consider = [&](const Expiry& one) {
    if (!least || one < *least) least = one;
  };
  for (const Tube& tube : tubes) {
    if (tube.pause != 0) consider({tube.paused_until, tube.number, 0});
  }
  for (const Job& job : jobs) {
    const bool runs_out = job.state == JobState::kDelayed ||
                          (job.state == JobState::kReserved && !is_gone(job.owner));
    if (runs_out) consider({job.deadline_at, job.tube, job.id});
  }
  return least;
}

std::optional<Expiry> Twin::first_due(Time now) const {
  std::optional<Expiry> least = first_expiry();
  return least && least->at <= now ? least : std::nullopt;
}

// When the last second of one of its jobs begins.
Time Twin::margin_of(const Client& client) const {
  Time least = kNever;
  for (const Job& job : jobs) {
    if (job.owner == client.serial) least = std::min(least, job.deadline_at);
  }
  return least == kNever ? kNever : least - limits::kSafetyMargin;
}

Time Twin::moment_of(const Client& client) const {
  return std::min(client.wait_end, margin_of(client));
}

Time Twin::next_deadline() const {
  if (!works.empty() || any_pending() || unfreed > 0) return Time::min();
  const std::optional<Expiry> expiry = first_expiry();
  Time least = expiry ? expiry->at : kNever;
  for (const Client& each : clients) {
    if (each.waiting) least = std::min(least, moment_of(each));
  }
  return least;
}

}  // namespace xylem::simulation
