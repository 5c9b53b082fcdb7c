// How long a tube lives, and its pause (protocol.md, "Tubes" and "pause-tube"). Whoever drops a
// reference to a tube calls vanish_if_unneeded(); after that the tube may be used only until the
// call ends.
#include "state.h"

namespace xylem {

TubeTimers& Engine::State::timers_of(Tube& tube) {
  if (tube.timers == nullptr) tube.timers = std::make_unique<TubeTimers>(tube);
  return *tube.timers;
}

void Engine::State::pause_tube(Client& who, const PauseTube& command, Output& out) {
  if (!is_tube_name(command.tube)) return reply(out, who, ReplyWord::kBadFormat);
  Tube* tube = tubes.find(command.tube);
  if (tube == nullptr) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  ++tube->pause_count;
  const Time until = now + seconds(command.delay);
  set_pause(*tube, command.delay, until, segment);
  record(out, PauseRecord{*tube->name, command.delay, until});
  vanish_if_unneeded(*tube, out);
  reply(out, who, ReplyWord::kPaused);
}

void Engine::State::set_pause(Tube& tube, std::uint32_t delay, Time until,
                              std::uint32_t its_segment) {
  if (tube.paused) uncount_pause(*tube.timers);
  tube.pause = delay;
  tube.paused = delay != 0;
  if (!tube.paused) tube.recovered_pause = false;
  if (tube.paused) {
    TubeTimers& timers = timers_of(tube);
    timers.pause_until = until;
    count_pause(timers, its_segment);
    arm_if_earlier(expiries, timers.pause_end, until, tube.number, 0);
  }
  refresh(tube);
}

void Engine::State::end_pause(Tube& tube, Output& out) {
  set_pause(tube, 0, now, segment);
  vanish_if_unneeded(tube, out);
}

void Engine::State::vanish_if_unneeded(Tube& tube, Output& out) {
  const bool needed = &tube == &default_tube || tube.using_count != 0 || tube.watching_count != 0 ||
                      tube.is_kept() || tube.recovered_pause;
  if (needed) return;
  // A new tube of this name is not paused, also after a recovery.
  if (tube.paused) {
    record(out, PauseRecord{*tube.name, 0, now});
    uncount_pause(*tube.timers);
  }
  if (tube.timers != nullptr) {
    disarm(expiries, tube.timers->promotion);
    disarm(expiries, tube.timers->pause_end);
  }
  tubes.remove(tube);
}

}  // namespace xylem
