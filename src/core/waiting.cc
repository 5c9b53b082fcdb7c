// Who gets which job. A reserve takes the best ready job of the tubes that it watches, or waits in
// all of them; its place in each is the moment its wait began. A job that becomes ready makes its
// tube pending if somebody waits there, and match() hands out from pending tubes, the best job
// first.
#include <algorithm>

#include "state.h"

namespace xylem {
namespace {

struct Choice {
  Job* best = nullptr;     // of the tubes that are neither paused nor pending
  bool any_ready = false;  // in any watched tube, paused ones included
  bool queue = false;      // a watched tube is pending: others are before us
};

Choice choose(const Client& client, bool log_failed) {
  Choice choice;
  for (const Watching& watch : client.watches) {
    Job* front = watch.tube->ready.front();
    if (front == nullptr) continue;
    choice.any_ready = true;
    if (watch.tube->paused || log_failed) continue;
    if (watch.tube->pending()) choice.queue = true;
    if (choice.best == nullptr || more_urgent(*front, *choice.best)) choice.best = front;
  }
  return choice;
}

}  // namespace

void Engine::State::become_worker(Client& who) {
  if (!who.worker) ++worker_count;
  who.worker = true;
}

void Engine::State::reserve(Client& who, Time until, Output& out) {
  become_worker(who);
  out.steps += who.watches.size();
  const Choice choice = choose(who, log_failed());
  const bool soon = who.margin_at() <= now;
  if (soon && !choice.any_ready) return reply(out, who, ReplyWord::kDeadlineSoon);
  if (choice.best != nullptr && !choice.queue) return hand_out(*choice.best, who, out);
  if (!choice.queue && (until <= now || who.half_closed)) {
    return reply(out, who, soon ? ReplyWord::kDeadlineSoon : ReplyWord::kTimedOut);
  }
  begin_wait(who, who.half_closed ? now : until);
}

void Engine::State::begin_wait(Client& who, Time until) {
  who.waiting = true;
  who.wait_until = until;
  ++waiting_count;
  for (Watching& watch : who.watches) {
    watch.tube->waiting.push_back(watch);
    ++watch.tube->waiting_count;
    refresh(*watch.tube);  // who queues at one tube may be the first to wait at another
  }
  const Time moment = std::min(until, who.margin_at());
  if (moment != kNever) arm_if_earlier(waits, who.wait, moment, who.number, 0);
}

void Engine::State::end_wait(Client& who) {
  who.waiting = false;
  --waiting_count;
  for (Watching& watch : who.watches) {
    watch.tube->waiting.erase(watch);
    --watch.tube->waiting_count;
    if (watch.tube->pending()) refresh(*watch.tube);
  }
}

void Engine::State::hand_out(Job& job, Client& who, Output& out) {
  count_up(job, &Job::reserves);
  const bool leaves_a_place_that_lasts =
      job.state == JobState::kDelayed || job.state == JobState::kBuried;
  move(job, reserved_by(who, now + seconds(job.ttr)));
  if (leaves_a_place_that_lasts) {
    record(out, ReserveJobRecord{job.id, job.reserves});
  } else {
    record(out, ReserveNote{job.id, job.reserves});
  }
  reply(out, who, ReplyWord::kReserved, job.id, job.body(), job.buffer());
}

void Engine::State::match(Output& out) {
  for (std::uint32_t n = 0; n < options.budget && !pending.empty(); ++n) {
    Tube& tube = *pending.top().tube;
    Client& who = *tube.waiting.front()->client;
    out.steps += who.watches.size();
    end_wait(who);
    hand_out(*tube.ready.front(), who, out);
  }
}

}  // namespace xylem
