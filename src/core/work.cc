// Long commands. Each is done in slices of `budget` jobs or tubes: the first at once, the others
// one a tick, all long commands taking turns. Until its one reply the client executes nothing else;
// others run in between and see what is done so far. If the client goes, the rest is left undone.
#include <algorithm>
#include <limits>

#include "state.h"

namespace xylem {
namespace {

// The first job of a state; `still_sought` if the wheel needs another slice to find it.
struct First {
  Job* job = nullptr;
  bool still_sought = false;
};

First first_delayed(Tube& tube, std::uint32_t& moves) {
  if (tube.delayed_count == 0) return {};
  Job* job = tube.timers->delayed->earliest(moves);
  return {.job = job, .still_sought = job == nullptr};
}

constexpr JobId kLastId = std::numeric_limits<JobId>::max();

bool is_reserved_in(const Job& job, const Tube& tube) {
  return job.state == JobState::kReserved && job.tube == &tube;
}

First first_of(Tube& tube, JobState state, std::uint32_t& moves) {
  switch (state) {
    case JobState::kReady:
      return {.job = tube.ready.front()};
    case JobState::kDelayed:
      return first_delayed(tube, moves);
    case JobState::kBuried:
      return {.job = tube.buried.front()};
    case JobState::kReserved:
      break;
  }
  CHECK(false);
}

void move_one(Engine::State& state, Job& job, Tube& to, Output& out) {
  const std::uint64_t order = job.state == JobState::kBuried ? ++state.last_bury_order : 0;
  state.move_to(to, job, order);
  ++to.total_jobs;
  state.record(out, MoveRecord{job.id, *to.name, order});
}

// One slice each; true if that was the last, and the reply is given.

bool slice(Engine::State& state, Client& who, KickWork& work, Output& out) {
  if (work.left > 0 && state.log_failed()) {
    state.reply(out, who, ReplyWord::kInternalError);
    return true;
  }
  Tube& tube = *who.used;
  std::uint32_t moves = limits::kSpread;
  for (std::uint32_t n = 0; n < state.options.budget && work.left > 0; ++n) {
    const First first = first_of(tube, work.from, moves);
    if (first.still_sought) return false;
    if (first.job == nullptr) work.left = 0;
    if (work.left == 0) break;
    state.kick_one(*first.job, out);
    ++work.done;
    --work.left;
  }
  if (work.left > 0) return false;
  state.reply(out, who, ReplyWord::kKickedCount, work.done);
  return true;
}

// Neither tube is needed by the work any more.
void let_go(Engine::State& state, const MoveWork& work, Output& out) {
  for (Tube* tube : {work.from, work.to}) {
    --tube->move_count;
    state.vanish_if_unneeded(*tube, out);
  }
}

bool slice(Engine::State& state, Client& who, MoveWork& work, Output& out) {
  const bool refused = work.left > 0 && state.log_state != LogState::kOk;
  std::uint32_t moves = limits::kSpread;
  for (std::uint32_t n = 0; n < state.options.budget && work.left > 0 && !refused; ++n) {
    const First first = first_of(*work.from, work.state, moves);
    if (first.still_sought) return false;
    if (first.job == nullptr) work.left = 0;
    if (work.left == 0) break;
    move_one(state, *first.job, *work.to, out);
    ++work.done;
    --work.left;
  }
  if (work.left > 0 && !refused) return false;
  let_go(state, work, out);
  if (!refused) {
    state.reply(out, who, ReplyWord::kMoved, work.done);
  } else {
    state.reply(out, who, state.log_failed() ? ReplyWord::kInternalError : ReplyWord::kOutOfMemory);
  }
  return true;
}

// Due jobs are made ready first, if it matters which state they are in.
bool slice(Engine::State& state, Client& who, FlushWork& work, Output& out) {
  Tube& tube = *work.tube;
  const bool settled = tube.gone || !work.state || state.promote_due(tube, state.options.budget);
  if (!settled) return false;
  state.tubes.end_walk(work.walk);
  if (tube.gone) {
    state.reply(out, who, ReplyWord::kFlushed, 0);
  } else if (state.log_failed() && tube.jobs_in(work.state) > 0) {
    state.reply(out, who, ReplyWord::kInternalError);
  } else {
    state.reply(out, who, ReplyWord::kFlushed, state.flush(tube, work.state, out));
    state.vanish_if_unneeded(tube, out);
  }
  return true;
}

// A slice of a walk over the tubes that there were at its start: the next part of the list, of
// those that are still there.
template <class W, class List, class Add>
bool walk_tubes(Engine::State& state, Client& who, W& work, List part, Output& out, Add add) {
  const std::size_t end = std::min(work.tubes.size(), work.done + state.options.budget);
  out.steps += end - work.done;
  for (; work.done < end; ++work.done) {
    const Tube& tube = *work.tubes[work.done];
    if (!tube.gone) add(part, tube);
  }
  const bool goes_on = end < work.tubes.size();
  if (!goes_on) state.tubes.end_walk(work.walk);
  state.reply_details(out, who, std::move(part), goes_on);
  return !goes_on;
}

bool slice(Engine::State& state, Client& who, ListTubesWork& work, Output& out) {
  const TubeList none{.names = {}, .watched = work.watched};
  return walk_tubes(state, who, work, none, out, [](TubeList& part, const Tube& tube) {
    part.names.append(*tube.name).push_back('\n');
  });
}

bool slice(Engine::State& state, Client& who, PeekDelayedWork&, Output& out) {
  std::uint32_t moves = limits::kSpread;
  const First first = first_delayed(*who.used, moves);
  if (first.still_sought) return false;
  state.peek(who, first.job, out);
  return true;
}

bool slice(Engine::State& state, Client& who, PeekReservedWork& work, Output& out) {
  const Tube& tube = *who.used;
  std::uint32_t skips = limits::kSpread;
  for (std::uint32_t n = 0; n < state.options.budget; ++n) {
    const Job* job = tube.reserved_count == 0 ? nullptr : state.next_job(work.after, skips);
    if (skips == 0) return false;
    if (job == nullptr || is_reserved_in(*job, tube)) {
      state.peek(who, job, out);
      return true;
    }
    work.after = job->id;
  }
  return false;
}

// What was there at the start and stays in its state is listed once, since ids only rise.
bool slice(Engine::State& state, Client& who, ListJobsWork& work, Output& out) {
  if (work.tube->gone || work.after == kLastId) work.left = 0;
  std::uint32_t skips = limits::kSpread;
  for (std::uint32_t n = 0; n < state.options.budget && work.left > 0; ++n) {
    const Job* job = state.next_job(work.after, skips);
    if (skips == 0) return false;
    if (job == nullptr) work.left = 0;
    if (work.left == 0) break;
    work.after = job->id;
    if (job->tube != work.tube || job->state != work.state.value_or(job->state)) continue;
    work.list.jobs.push_back(
        {.stats = state.stats_of(*job),
         .body_bytes = job->body_bytes,
         .bury_order = job->state == JobState::kBuried ? job->bury_order() : 0});
    work.list.jobs.back().stats.tube = {};
    --work.left;
  }
  if (work.left > 0) return false;
  state.tubes.end_walk(work.walk);
  state.reply_details(out, who, std::move(work.list));
  return true;
}

bool slice(Engine::State& state, Client& who, StatsTubesWork& work, Output& out) {
  const TubeStatsList none;
  return walk_tubes(state, who, work, none, out, [&state](TubeStatsList& part, const Tube& tube) {
    part.tubes.push_back(state.stats_of(tube));
  });
}

// Has no reply: the client's slot is free again.
bool slice(Engine::State& state, Client& who, CloseWork&, Output& out) {
  std::uint32_t budget = state.options.budget;
  if (!state.let_go_of_tubes(who, budget, out)) return false;
  for (; budget > 0 && !who.reserved.empty(); --budget) {
    state.move(*who.reserved.top().job, ready());
  }
  return who.reserved.empty();
}

// Does the first slice, and leaves the rest for the ticks.
template <class W>
bool start(Engine::State& state, Client& who, W work, Output& out) {
  if (slice(state, who, work, out)) return true;
  who.work = std::make_unique<Work>(std::move(work));
  state.working.push_back(who);
  return false;
}

}  // namespace

void Engine::State::kick(Client& who, std::uint32_t bound, Output& out) {
  const Tube& tube = *who.used;
  const bool buried = tube.buried_count != 0;
  const std::uint32_t there = buried ? tube.buried_count : tube.delayed_count;
  start(*this, who,
        KickWork{.from = buried ? JobState::kBuried : JobState::kDelayed,
                 .left = std::min(bound, there)},
        out);
}

void Engine::State::move_jobs(Client& who, const MoveJobs& command, Output& out) {
  Tube* from = tubes.find(command.from);
  if (from == nullptr) return reply(out, who, ReplyWord::kNotFound);
  if (command.from == command.to) return reply(out, who, ReplyWord::kMoved, 0);
  const auto there = static_cast<std::uint32_t>(from->jobs_in(command.state));
  Tube& to = tubes.find_or_make(command.to);
  ++from->move_count;
  ++to.move_count;
  start(
      *this, who,
      MoveWork{
          .from = from, .to = &to, .state = command.state, .left = std::min(command.count, there)},
      out);
}

bool Engine::State::promote_due(Tube& tube, std::uint32_t budget) {
  if (tube.timers == nullptr) return true;
  std::uint32_t moves = limits::kSpread;
  for (; budget > 0; --budget) {
    Job* job = tube.timers->delayed->earliest_due(now, moves);
    if (job == nullptr) return moves != 0;
    move(*job, ready());
  }
  return false;
}

void Engine::State::flush_tube(Client& who, const FlushTube& command, Output& out) {
  Tube* tube = tubes.find(command.tube);
  if (tube == nullptr) return reply(out, who, ReplyWord::kNotFound);
  start(*this, who, FlushWork{.walk = tubes.begin_walk(), .tube = tube, .state = command.state},
        out);
}

void Engine::State::list_tubes(Client& who, Output& out) {
  start(*this, who, ListTubesWork{.walk = tubes.begin_walk(), .tubes = tubes.in_order()}, out);
}

// It watches the same until the reply, as it executes nothing else.
void Engine::State::list_tubes_watched(Client& who, Output& out) {
  ListTubesWork work{.walk = tubes.begin_walk(), .tubes = {}, .done = 0, .watched = true};
  work.tubes.reserve(who.watches.size());
  for (const Watching& watch : who.watches) work.tubes.push_back(watch.tube);
  start(*this, who, std::move(work), out);
}

void Engine::State::peek_delayed(Client& who, Output& out) {
  start(*this, who, PeekDelayedWork{}, out);
}

void Engine::State::peek_reserved(Client& who, Output& out) {
  start(*this, who, PeekReservedWork{}, out);
}

void Engine::State::list_jobs(Client& who, const ListJobs& command, Output& out) {
  const Tube* tube = tubes.find(command.tube);
  if (tube == nullptr) return reply(out, who, ReplyWord::kNotFound);
  start(*this, who,
        ListJobsWork{.walk = tubes.begin_walk(),
                     .tube = tube,
                     .state = command.state,
                     .after = command.after,
                     .left = std::min(command.count, limits::kJobsPerList),
                     .list = {}},
        out);
}

void Engine::State::stats_tubes(Client& who, Output& out) {
  start(*this, who,
        StatsTubesWork{.walk = tubes.begin_walk(), .tubes = tubes.in_order(), .done = 0}, out);
}

// Nobody has reserved them any more, so no ttr of theirs runs out: they wait for their slice.
void Engine::State::close(Client& who, Output& out) {
  disarm(expiries, who.ttr);
  if (start(*this, who, CloseWork{}, out)) free_slot(who);
}

void Engine::State::do_slice(Output& out) {
  Client* who = working.pop_front();
  if (who == nullptr) return;
  const bool done =
      std::visit([&](auto& work) { return slice(*this, *who, work, out); }, *who->work);
  if (!done) return working.push_back(*who);
  who->work.reset();
  if (who->gone) free_slot(*who);
}

void Engine::State::abandon_work(Client& who, Output& out) {
  if (who.work == nullptr) return;
  std::visit(
      [&](const auto& work) {
        if constexpr (requires { work.walk; }) tubes.end_walk(work.walk);
        if constexpr (requires { work.to; }) let_go(*this, work, out);
      },
      *who.work);
  who.work.reset();
  working.erase(who);
}

}  // namespace xylem
