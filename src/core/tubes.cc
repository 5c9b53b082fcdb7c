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
  if (Pause* before = tube.running_pause()) {
    uncount_pause(*before);
    before->recovered = before->recovered && delay != 0;
  }
  tube.paused = delay != 0;
  if (tube.paused) {
    std::unique_ptr<Pause>& pause = timers_of(tube).pause;
    if (pause == nullptr) pause = std::make_unique<Pause>(tube);
    pause->until = until;
    pause->seconds = delay;
    count_pause(*pause, its_segment);
    arm_if_earlier(expiries, pause->end, until, tube.number, 0);
  }
  refresh(tube);
}

void Engine::State::end_pause(Tube& tube, Output& out) {
  set_pause(tube, 0, now, segment);
  vanish_if_unneeded(tube, out);
}

bool Engine::State::is_needed(const Tube& tube) const {
  if (&tube == &default_tube || tube.is_kept()) return true;
  if (tube.using_count != 0 || tube.watching_count != 0) return true;
  const Pause* pause = tube.running_pause();
  return pause != nullptr && pause->recovered;
}

void Engine::State::vanish_if_unneeded(Tube& tube, Output& out) {
  if (is_needed(tube)) return;
  // A new tube of this name is not paused, also after a recovery.
  if (Pause* pause = tube.running_pause()) {
    record(out, PauseRecord{*tube.name, 0, now});
    uncount_pause(*pause);
  }
  if (tube.timers != nullptr) {
    disarm(expiries, tube.timers->promotion);
    if (tube.timers->pause != nullptr) disarm(expiries, tube.timers->pause->end);
  }
  tubes.remove(tube);
}

}  // namespace xylem
