// The text names every field, so that two statements with the same text are the same. A field
// without a meaning in a record (the deadline of a job that is not delayed) is left out.
#include "text.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "xylem/core/command.h"

namespace xylem::simulation {
namespace {

constexpr std::array<std::string_view, 29> kWords{
    "INSERTED",      "BURIED",   "JOB_TOO_BIG",   "BAD_FORMAT",     "UNKNOWN_COMMAND",
    "EXPECTED_CRLF", "DRAINING", "OUT_OF_MEMORY", "INTERNAL_ERROR", "USING",
    "RESERVED",      "FOUND",    "TIMED_OUT",     "DEADLINE_SOON",  "NOT_FOUND",
    "DELETED",       "RELEASED", "BURIED",        "TOUCHED",        "KICKED",
    "KICKED",        "WATCHING", "NOT_IGNORED",   "PAUSED",         "OK",
    "FLUSHED",       "MOVED",    "REPRIORITIZED", "NOT_DRAINING"};

std::int64_t ticks(Time time) { return time.time_since_epoch().count(); }

std::string text_of(const JobCounts& jobs) {
  return fmt::format("urgent {} ready {} reserved {} delayed {} buried {}", jobs.urgent, jobs.ready,
                     jobs.reserved, jobs.delayed, jobs.buried);
}

std::string text_of(const CommandCounts& c) {
  const std::array<std::uint64_t, 31> all{c.put,
                                          c.peek,
                                          c.peek_ready,
                                          c.peek_delayed,
                                          c.peek_buried,
                                          c.reserve,
                                          c.reserve_with_timeout,
                                          c.delete_,
                                          c.release,
                                          c.use,
                                          c.watch,
                                          c.ignore,
                                          c.bury,
                                          c.kick,
                                          c.touch,
                                          c.stats,
                                          c.stats_job,
                                          c.stats_tube,
                                          c.list_tubes,
                                          c.list_tube_used,
                                          c.list_tubes_watched,
                                          c.pause_tube,
                                          c.caps,
                                          c.list_jobs,
                                          c.flush_tube,
                                          c.move_jobs,
                                          c.reprioritize,
                                          c.peek_reserved,
                                          c.drain,
                                          c.undrain,
                                          c.stats_tubes};
  return fmt::format("{}", fmt::join(all, ","));
}

std::string text_of(const JobStats& s) {
  return fmt::format(
      "job {} tube {} {} pri {} age {} delay {} ttr {} left {} file {} reserves {} timeouts {} "
      "releases {} buries {} kicks {}",
      s.id, s.tube, name_of(s.state), s.pri, s.age, s.delay, s.ttr, s.time_left, s.file, s.reserves,
      s.timeouts, s.releases, s.buries, s.kicks);
}

std::string text_of(const TubeStats& s) {
  return fmt::format(
      "tube {} {} total {} using {} watching {} waiting {} deletes {} pauses {} pause {} left {}",
      s.name, text_of(s.jobs), s.total_jobs, s.using_count, s.watching_count, s.waiting_count,
      s.delete_count, s.pause_count, s.pause, s.pause_time_left);
}

std::string text_of(const JobList& list) {
  std::string text = fmt::format("{} jobs", list.jobs.size());
  for (const ListedJob& job : list.jobs) {
    text += fmt::format("\n#   size {} order {} {}", job.body_bytes, job.bury_order,
                        text_of(job.stats));
  }
  return text;
}

std::string text_of(const TubeStatsList& list) {
  std::string text = fmt::format("{} tubes", list.tubes.size());
  for (const TubeStats& tube : list.tubes) text += "\n#   " + text_of(tube);
  return text;
}

std::string text_of(const ReplyDetails& details) {
  return std::visit(overloaded{[](std::monostate) { return std::string("nothing"); },
                               [](const EngineStats& s) { return simulation::text_of(s); },
                               [](const JobStats& s) { return text_of(s); },
                               [](const TubeStats& s) { return text_of(s); },
                               [](const JobList& s) { return text_of(s); },
                               [](const TubeStatsList& s) { return text_of(s); },
                               [](const Capabilities& s) {
                                 return fmt::format("admin commands: {}", s.admin_commands);
                               },
                               [](const TubeList& s) {
                                 std::string names = s.names;
                                 for (char& c : names) c = c == '\n' ? ' ' : c;
                                 return names;
                               }},
                    details);
}

std::string put_text(const PutRecord& r) {
  std::string text = fmt::format(
      "put {} tube {} {} pri {} delay {} ttr {} created {} reserves {} timeouts {} releases {} "
      "buries {} kicks {} body {}",
      r.id, r.tube, name_of(r.state), r.pri, r.delay, r.ttr, ticks(r.created_at), r.reserves,
      r.timeouts, r.releases, r.buries, r.kicks, body_text(r.body));
  if (r.state == JobState::kDelayed) text += fmt::format(" until {}", ticks(r.deadline_at));
  if (r.state == JobState::kBuried) text += fmt::format(" order {}", r.bury_order);
  return text;
}

}  // namespace

std::string name_of(ClientId id) {
  const std::uint32_t index = index_of(id);
  if (index < 26) return {static_cast<char>('A' + index)};
  return fmt::format("Z{}", index);
}

std::string body_text(std::string_view body) {
  if (body.size() <= 40) return std::string(body);
  const std::size_t before = body.find_last_not_of(body.back());
  const std::size_t head = before == std::string_view::npos ? 0 : before + 1;
  return fmt::format("{}{{{}*{}}}", body.substr(0, head), body.back(), body.size() - head);
}

std::string text_of(const Reply& reply, const ReplyDetails& details) {
  std::string text =
      fmt::format("{}< {}", name_of(reply.client), kWords.at(static_cast<std::size_t>(reply.word)));
  switch (reply.word) {
    case ReplyWord::kInserted:
    case ReplyWord::kBuriedId:
    case ReplyWord::kKickedCount:
    case ReplyWord::kWatching:
    case ReplyWord::kFlushed:
    case ReplyWord::kMoved:
      return fmt::format("{} {}", text, reply.number);
    case ReplyWord::kUsing:
      return fmt::format("{} {}", text, reply.text);
    case ReplyWord::kReserved:
    case ReplyWord::kFound:
      return fmt::format("{} {} {}\n{}< {}", text, reply.number, reply.text.size(),
                         name_of(reply.client), body_text(reply.text));
    case ReplyWord::kOk:
      if (reply.goes_on) return fmt::format("# {}, a part:\n#   {}", text, text_of(details));
      return fmt::format("{} {{#}}\n#   {}", text, text_of(details));
    default:
      return text;
  }
}

std::string text_of(const EngineStats& s) {
  return fmt::format(
      "{} commands {} timeouts {} total {} tubes {} connections {} producers {} workers {} "
      "waiting {} ever {} draining {}",
      text_of(s.jobs), text_of(s.commands), s.job_timeouts, s.total_jobs, s.current_tubes,
      s.current_connections, s.current_producers, s.current_workers, s.current_waiting,
      s.total_connections, s.draining);
}

std::string text_of(const Record& record) {
  return std::visit(
      overloaded{
          [](const PutRecord& r) { return put_text(r); },
          [](const DeleteRecord& r) { return fmt::format("delete {}", r.id); },
          [](const ReleaseRecord& r) {
            return fmt::format("release {} pri {} delay {} until {}", r.id, r.pri, r.delay,
                               r.delay == 0 ? 0 : ticks(r.deadline_at));
          },
          [](const BuryRecord& r) {
            return fmt::format("bury {} pri {} order {}", r.id, r.pri, r.bury_order);
          },
          [](const KickRecord& r) { return fmt::format("kick {}", r.id); },
          [](const ReserveJobRecord& r) {
            return fmt::format("reserve-job {} reserves {}", r.id, r.reserves);
          },
          [](const PauseRecord& r) {
            return fmt::format("pause {} delay {} until {}", r.tube, r.delay,
                               r.delay == 0 ? 0 : ticks(r.until));
          },
          [](const MoveRecord& r) {
            return fmt::format("move {} to {} order {}", r.id, r.tube, r.bury_order);
          },
          [](const FlushRecord& r) {
            std::string text = fmt::format("flush {} {} at {} but for", r.tube,
                                           r.state ? name_of(*r.state) : "all", ticks(r.at));
            for (std::size_t i = 0; i < r.reserved.size(); ++i) {
              text += fmt::format(" {}", r.reserved[i]);
            }
            return text;
          },
          [](const PriorityRecord& r) { return fmt::format("priority {} pri {}", r.id, r.pri); },
          [](const ReserveNote& r) { return fmt::format("note {} reserves {}", r.id, r.reserves); },
          [](const TimeoutNote& r) { return fmt::format("note {} timeouts {}", r.id, r.timeouts); },
          [](const IdNote& r) { return fmt::format("note ids up to {}", r.id); }},
      record);
}

}  // namespace xylem::simulation
