// The switchboard: every command is counted here, if it has a counter, and goes to its function. A
// line that did not parse never gets here, so it is not counted.
#include <type_traits>
#include <variant>

#include "state.h"

namespace xylem {

Engine::State::State(Options its_options)
    : options(its_options),
      jobs(its_options.prepare_memory),
      default_tube(tubes.find_or_make("default")) {
  CHECK(options.budget > 0);
}

void Engine::State::begin(Time its_now) {
  now = std::max(now, its_now);
  tubes.forget_removed();
}

void Engine::State::execute(Client& who, const Command& command, Output& out) {
  CHECK(!who.gone && !who.waiting && who.work == nullptr);
  std::visit(
      overloaded{
          [&](const PutLine& c) { ++commands.put, put_line(who, c, out); },
          [&](const PutBody& c) { put_body(who, c, out); },
          [&](const PutSkipped&) { reply(out, who, ReplyWord::kJobTooBig); },
          [&](const Use& c) { ++commands.use, use(who, c.tube, out); },
          [&](const Reserve&) { ++commands.reserve, reserve(who, kNever, out); },
          [&](const ReserveWithTimeout& c) {
            ++commands.reserve_with_timeout, reserve(who, now + seconds(c.seconds), out);
          },
          [&](const ReserveJob& c) { reserve_job(who, c.id, out); },
          [&](const Delete& c) { ++commands.delete_, delete_job(who, c.id, out); },
          [&](const Release& c) { ++commands.release, release(who, c, out); },
          [&](const Bury& c) { ++commands.bury, bury(who, c, out); },
          [&](const Touch& c) { ++commands.touch, touch(who, c.id, out); },
          [&](const Watch& c) { ++commands.watch, watch(who, c.tube, out); },
          [&](const Ignore& c) { ++commands.ignore, ignore(who, c.tube, out); },
          [&](const Peek& c) { ++commands.peek, peek(who, find(c.id), out); },
          [&](const PeekReady&) { ++commands.peek_ready, peek(who, who.used->ready.front(), out); },
          [&](const PeekDelayed&) { ++commands.peek_delayed, peek_delayed(who, out); },
          [&](const PeekBuried&) {
            ++commands.peek_buried, peek(who, who.used->buried.front(), out);
          },
          [&](const Kick& c) { ++commands.kick, kick(who, c.bound, out); },
          [&](const KickJob& c) { kick_job(who, c.id, out); },
          [&](const Stats&) { ++commands.stats, reply_details(out, who, stats()); },
          [&](const StatsJob& c) { ++commands.stats_job, stats_job(who, c.id, out); },
          [&](const StatsTube& c) { ++commands.stats_tube, stats_tube(who, c.tube, out); },
          [&](const ListTubes&) { ++commands.list_tubes, list_tubes(who, out); },
          [&](const ListTubeUsed&) {
            ++commands.list_tube_used, reply(out, who, ReplyWord::kUsing, 0, *who.used->name);
          },
          [&](const ListTubesWatched&) {
            ++commands.list_tubes_watched, list_tubes_watched(who, out);
          },
          [&](const PauseTube& c) { ++commands.pause_tube, pause_tube(who, c, out); },
          [&](const Caps& c) { ++commands.caps, reply_details(out, who, Capabilities{c.admin}); },
          [&](const ListJobs& c) { ++commands.list_jobs, list_jobs(who, c, out); },
          [&](const FlushTube& c) { ++commands.flush_tube, flush_tube(who, c, out); },
          [&](const MoveJobs& c) { ++commands.move_jobs, move_jobs(who, c, out); },
          [&](const Reprioritize& c) { ++commands.reprioritize, reprioritize(who, c, out); },
          [&](const PeekReserved&) { ++commands.peek_reserved, peek_reserved(who, out); },
          [&](const Drain&) {
            ++commands.drain, draining = true, reply(out, who, ReplyWord::kDraining);
          },
          [&](const Undrain&) {
            ++commands.undrain, draining = false, reply(out, who, ReplyWord::kNotDraining);
          },
          [&](const StatsTubes&) { ++commands.stats_tubes, stats_tubes(who, out); },
      },
      command);
}

}  // namespace xylem
