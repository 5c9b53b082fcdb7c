// Long commands. Each is done in slices of `budget` jobs: the first at once, the others one a tick,
// all long commands taking turns. Until its one reply the client executes nothing else; others run
// in between and see what is done so far. If the client goes, the rest is left undone.
#include <algorithm>

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
  Job* job = tube.timers->delayed.earliest(moves);
  return {.job = job, .still_sought = job == nullptr};
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
    const First first = work.from == JobState::kBuried ? First{.job = tube.buried.front()}
                                                       : first_delayed(tube, moves);
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

bool slice(Engine::State& state, Client& who, ListTubesWork& work, Output& out) {
  const std::size_t end = std::min(work.tubes.size(), work.done + state.options.budget);
  for (; work.done < end; ++work.done) {
    const Tube& tube = *work.tubes[work.done];
    if (!tube.gone) work.list.names.append(*tube.name).push_back('\n');
  }
  if (end < work.tubes.size()) return false;
  state.tubes.end_walk(work.walk);
  state.reply_details(out, who, std::move(work.list));
  return true;
}

bool slice(Engine::State& state, Client& who, PeekDelayedWork&, Output& out) {
  std::uint32_t moves = limits::kSpread;
  const First first = first_delayed(*who.used, moves);
  if (first.still_sought) return false;
  state.peek(who, first.job, out);
  return true;
}

// Has no reply: the client's slot is free again.
bool slice(Engine::State& state, Client& who, CloseWork&, Output&) {
  for (std::uint32_t n = 0; n < state.options.budget && !who.reserved.empty(); ++n) {
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

void Engine::State::list_tubes(Client& who, Output& out) {
  start(*this, who,
        ListTubesWork{.walk = tubes.begin_walk(), .tubes = tubes.in_order(), .done = 0, .list = {}},
        out);
}

void Engine::State::peek_delayed(Client& who, Output& out) {
  start(*this, who, PeekDelayedWork{}, out);
}

// Nobody has reserved them any more, so no ttr of theirs runs out: they wait for their slice.
void Engine::State::release_jobs_of_closed(Client& who, Output& out) {
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

void Engine::State::abandon_work(Client& who) {
  if (who.work == nullptr) return;
  if (const auto* list = std::get_if<ListTubesWork>(who.work.get())) tubes.end_walk(list->walk);
  who.work.reset();
  working.erase(who);
}

}  // namespace xylem
