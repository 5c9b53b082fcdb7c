// What time does, in slices of `budget`: jobs become ready (a delay or a ttr ran out), pauses end,
// a long command goes on, ready jobs meet waiting clients, and clients that waited long enough hear
// so.
//
// Expiries go by (deadline, tube's number, id) over all tubes and clients together. The wakers in
// `expiries` give that order, if the first of them has the exact key of what it stands for;
// first_due() makes it so by arming anew those that were early.
#include <algorithm>
#include <compare>

#include "state.h"

namespace xylem {
namespace {

struct Key {
  Time deadline = kNever;
  std::uint64_t major = 0;
  std::uint64_t minor = 0;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const Job& job) { return {job.deadline_at, job.tube->number, job.id}; }

// What the waker is for, as of now; exact if it is due, else perhaps early.
Key wanted(const Waker& waker, Time now, std::uint32_t& moves) {
  switch (waker.kind) {
    case WakerKind::kPromotion: {
      auto& delayed = *waker.tube->timers->delayed;
      const Job* first = delayed.earliest_due(now, moves);
      if (first != nullptr) return key_of(*first);
      return {delayed.next_deadline(), waker.tube->number, 0};
    }
    case WakerKind::kPauseEnd: {
      const Pause* pause = waker.tube->running_pause();
      return pause == nullptr ? Key{} : Key{pause->until, waker.tube->number, 0};
    }
    case WakerKind::kTtr:
      return waker.client->reserved.empty() ? Key{} : key_of(*waker.client->reserved.top().job);
    case WakerKind::kWait:
      if (!waker.client->waiting) return {};
      return {std::min(waker.client->wait_until, waker.client->margin_at()), waker.client->number,
              0};
  }
  return {};
}

Key key_of(const Waker& waker) { return {waker.deadline_at, waker.major, waker.minor}; }

using Wheel = TimerWheel<Waker, &Waker::links>;

void arm(Wheel& wheel, Waker& waker, const Key& key, Time now) {
  waker.deadline_at = key.deadline;
  waker.major = key.major;
  waker.minor = key.minor;
  waker.armed = true;
  wheel.schedule(waker, now);
}

void arm_again(Wheel& wheel, Waker& waker, const Key& key, Time now) {
  wheel.cancel(waker);
  waker.armed = false;
  if (key.deadline != kNever) arm(wheel, waker, key, now);
}

// The first waker that is due, with its exact key; null if none is, or if `moves` ran out.
Waker* first_due(Wheel& wheel, Time now, std::uint32_t& moves) {
  while (Waker* waker = wheel.earliest_due(now, moves)) {
    const Key key = wanted(*waker, now, moves);
    if (moves == 0) return nullptr;
    if (key_of(*waker) == key) return waker;
    arm_again(wheel, *waker, key, now);
  }
  return nullptr;
}

void fire(Engine::State& state, const Waker& waker, Output& out) {
  switch (waker.kind) {
    case WakerKind::kPromotion: {
      std::uint32_t moves = limits::kSpread;
      state.move(*waker.tube->timers->delayed->earliest(moves), ready());
      break;
    }
    case WakerKind::kPauseEnd:
      state.end_pause(*waker.tube, out);
      break;
    case WakerKind::kTtr: {
      Job& job = *waker.client->reserved.top().job;
      state.count_up(job, &Job::timeouts);
      ++state.job_timeouts;
      state.move(job, ready());
      state.record(out, TimeoutNote{job.id, job.timeouts});
      break;
    }
    case WakerKind::kWait: {
      Client& who = *waker.client;
      const bool soon = who.margin_at() <= state.now;
      state.end_wait(who);
      state.reply(out, who, soon ? ReplyWord::kDeadlineSoon : ReplyWord::kTimedOut);
      break;
    }
  }
}

// Expires at most `budget` times; returns the first deadline that is left over, or kNever.
Time expire(Engine::State& state, Time now, Output& out) {
  std::uint32_t moves = limits::kSpread;
  for (std::uint32_t n = 0;; ++n) {
    const Waker* first = first_due(state.expiries, now, moves);
    if (first == nullptr) return moves == 0 ? state.expiries.next_deadline() : kNever;
    if (n == state.options.budget) return first->deadline_at;
    fire(state, *first, out);
  }
}

// Tells at most `budget` clients that their wait is over, if that was before `left_over`.
void answer(Engine::State& state, Time now, Time left_over, Output& out) {
  std::uint32_t moves = limits::kSpread;
  for (std::uint32_t n = 0; n < state.options.budget && state.pending.empty(); ++n) {
    const Waker* first = first_due(state.waits, now, moves);
    if (first == nullptr || first->deadline_at >= left_over) return;
    fire(state, *first, out);
  }
}

}  // namespace

void Engine::State::tick(Time its_now, Output& out) {
  const Time left_over = expire(*this, its_now, out);
  do_slice(out);
  match(out);
  answer(*this, its_now, left_over, out);
  free_flushed();
}

Time Engine::State::next_deadline() const {
  if (!working.empty() || !pending.empty() || !flushed.empty()) return Time::min();
  return std::min(expiries.next_deadline(), waits.next_deadline());
}

void Engine::State::arm_if_earlier(Wheel& wheel, Waker& waker, Time deadline, std::uint64_t major,
                                   std::uint64_t minor) {
  const Key key{deadline, major, minor};
  if (waker.armed && key_of(waker) <= key) return;
  disarm(wheel, waker);
  arm(wheel, waker, key, now);
}

void Engine::State::disarm(Wheel& wheel, Waker& waker) {
  if (waker.armed) wheel.cancel(waker);
  waker.armed = false;
}

}  // namespace xylem
