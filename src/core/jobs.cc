// Commands about single jobs. Each is a chain of questions in the order of protocol.md, then one
// move.
#include <optional>

#include "state.h"

namespace xylem {
namespace {

// Why a put whose body has arrived is not taken.
std::optional<ReplyWord> refusal_of(const Engine::State& state, const PutBody& put) {
  if (!put.terminated) return ReplyWord::kExpectedCrlf;
  if (state.draining) return ReplyWord::kDraining;
  switch (state.log_state) {
    case LogState::kOk:
      if (put.has_room) return std::nullopt;
      return ReplyWord::kOutOfMemory;
    case LogState::kFull:
      return ReplyWord::kOutOfMemory;
    case LogState::kFailed:
      return ReplyWord::kInternalError;
  }
  return std::nullopt;
}

}  // namespace

void Engine::State::put_line(Client& who, const PutLine& put, Output& out) {
  switch (put.fate) {
    case PutFate::kTooBig:
      return;
    case PutFate::kTrailing:
      return reply(out, who, ReplyWord::kBadFormat);
    case PutFate::kBodyFollows:
      break;
  }
  if (!who.producer) ++producer_count;
  who.producer = true;
  ++who.used->upload_count;
  who.upload = Upload{.id = ++last_id,
                      .tube = who.used,
                      .created_at = now,
                      .pri = put.pri,
                      .delay = put.delay,
                      .ttr = std::max(put.ttr, 1U)};
}

void Engine::State::put_body(Client& who, const PutBody& put, Output& out) {
  CHECK(who.upload.has_value());
  if (const auto refusal = refusal_of(*this, put)) {
    abort_upload(who, out);
    return reply(out, who, *refusal);
  }
  const Upload upload = *who.upload;
  who.upload.reset();
  Tube& tube = *upload.tube;
  --tube.upload_count;
  Job& job = jobs.make(upload.id, put.body, put.buffer);
  job.segment = segment;
  job.created_at = upload.created_at;
  job.pri = upload.pri;
  job.delay = upload.delay;
  job.ttr = upload.ttr;
  ++total_jobs;
  ++tube.total_jobs;
  insert(job, tube, job.delay == 0 ? ready() : delayed_until(now + seconds(job.delay)));
  if (options.recording) record(out, put_record(job));
  reply(out, who, ReplyWord::kInserted, job.id);
}

PutRecord Engine::State::put_record(const Job& job) {
  return {.id = job.id,
          .tube = *job.tube->name,
          .state = job.state == JobState::kReserved ? JobState::kReady : job.state,
          .pri = job.pri,
          .delay = job.delay,
          .ttr = job.ttr,
          .created_at = job.created_at,
          .deadline_at = job.state == JobState::kDelayed ? job.deadline_at : Time{},
          .bury_order = job.state == JobState::kBuried ? job.bury_order() : 0,
          .reserves = job.reserves,
          .timeouts = job.timeouts,
          .releases = job.releases,
          .buries = job.buries,
          .kicks = job.kicks,
          .body = job.body(),
          .buffer = job.buffer()};
}

void Engine::State::abort_upload(Client& who, Output& out) {
  if (!who.upload.has_value()) return;
  Tube& tube = *who.upload->tube;
  who.upload.reset();
  --tube.upload_count;
  vanish_if_unneeded(tube, out);
}

Job* Engine::State::find(JobId id) const {
  Job* job = jobs.find(id);
  return job == nullptr || job->tube->has_flushed(*job) ? nullptr : job;
}

Job* Engine::State::next_job(JobId& after, std::uint32_t& skips) const {
  Job* job = jobs.at_or_after(after + 1);
  while (job != nullptr && job->tube->has_flushed(*job)) {
    after = job->id;
    if (--skips == 0) return nullptr;
    job = jobs.at_or_after(after + 1);
  }
  return job;
}

Job* Engine::State::held_by(const Client& who, JobId id) const {
  Job* job = find(id);
  const bool held =
      job != nullptr && job->state == JobState::kReserved && job->holding.owner == &who;
  return held ? job : nullptr;
}

void Engine::State::delete_job(Client& who, JobId id, Output& out) {
  Job* job = find(id);
  const bool allowed =
      job != nullptr && (job->state != JobState::kReserved || job->holding.owner == &who);
  if (!allowed) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  Tube& tube = *job->tube;
  ++tube.delete_count;
  remove(*job);
  vanish_if_unneeded(tube, out);
  record(out, DeleteRecord{id});
  reply(out, who, ReplyWord::kDeleted);
}

void Engine::State::release(Client& who, const Release& command, Output& out) {
  Job* job = held_by(who, command.id);
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  job->delay = command.delay;
  count_up(*job, &Job::releases);
  const Time deadline = now + seconds(command.delay);
  move(*job, command.delay == 0 ? ready() : delayed_until(deadline), command.pri);
  record(out, ReleaseRecord{command.id, command.pri, command.delay, deadline});
  reply(out, who, ReplyWord::kReleased);
}

void Engine::State::bury(Client& who, const Bury& command, Output& out) {
  Job* job = held_by(who, command.id);
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  count_up(*job, &Job::buries);
  move(*job, buried_as(++last_bury_order), command.pri);
  record(out, BuryRecord{command.id, command.pri, last_bury_order});
  reply(out, who, ReplyWord::kBuried);
}

void Engine::State::touch(Client& who, JobId id, Output& out) {
  Job* job = held_by(who, id);
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  move(*job, reserved_by(who, now + seconds(job->ttr)));
  reply(out, who, ReplyWord::kTouched);
}

void Engine::State::kick_one(Job& job, Output& out) {
  count_up(job, &Job::kicks);
  move(job, ready());
  record(out, KickRecord{job.id});
}

void Engine::State::kick_job(Client& who, JobId id, Output& out) {
  Job* job = find(id);
  const bool kickable =
      job != nullptr && (job->state == JobState::kBuried || job->state == JobState::kDelayed);
  if (!kickable) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  kick_one(*job, out);
  reply(out, who, ReplyWord::kKicked);
}

void Engine::State::reserve_job(Client& who, JobId id, Output& out) {
  Job* job = find(id);
  if (job == nullptr || job->state == JobState::kReserved)
    return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  become_worker(who);
  hand_out(*job, who, out);
}

void Engine::State::reprioritize(Client& who, const Reprioritize& command, Output& out) {
  Job* job = find(command.id);
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  if (log_failed()) return reply(out, who, ReplyWord::kInternalError);
  set_pri(*job, command.pri);
  record(out, PriorityRecord{command.id, command.pri});
  reply(out, who, ReplyWord::kReprioritized);
}

void Engine::State::peek(Client& who, const Job* job, Output& out) {
  if (job == nullptr) return reply(out, who, ReplyWord::kNotFound);
  reply(out, who, ReplyWord::kFound, job->id, job->body(), job->buffer());
}

}  // namespace xylem
