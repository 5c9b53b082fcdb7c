// beanstalkd's commands in the twin, in the order of protocol.md, and what they stand on. Our own
// are in twin_own.cc, the parts of a tick in twin_tick.cc.
#include "twin.h"

#include <algorithm>
#include <utility>

#include "text.h"

namespace xylem::simulation {
Twin::Twin(std::uint32_t budget) : budget_(budget) { tube_named("default"); }

// Time never goes back, though a tick's is rounded down and may be a little behind.
void Twin::begin(Time now) {
  replies.clear();
  records.clear();
  now_ = std::max(now_, now);
}

void Twin::connect(ClientId id) {
  begin(now_);
  const Serial home = tube_named("default");
  Client made;
  made.id = id;
  made.serial = ++last_client_;
  made.used = home;
  made.watched = {home};
  clients.push_back(std::move(made));
  ++total_connections_;
}

ClientId Twin::next_client_id() const {
  std::uint32_t index = 0;
  while (std::ranges::count(clients, ClientId{index}, &Client::id) != 0) ++index;
  return ClientId{index};
}

void Twin::half_close(ClientId id, Time now) {
  begin(now);
  Client& who = client(id);
  who.half_closed = true;
  if (!who.waiting) return;
  end_wait(who);
  say(who, ReplyWord::kTimedOut);
}

void Twin::disconnect(ClientId id, Time now) {
  begin(now);
  Client& who = client(id);
  const Serial serial = who.serial;
  Work ended;
  std::erase_if(works, [&](const Work& work) {
    if (work.client == serial) ended = work;
    return work.client == serial;
  });
  if (ended.kind == Work::Kind::kMove) drop_tube(ended.tube), drop_tube(ended.to);
  who.gone = true;
  who.waiting = false;
  const Serial uploading_to = who.upload ? who.upload->tube : 0;
  who.upload.reset();
  drop_tube(uploading_to);
  start({.kind = Work::Kind::kRelease, .client = serial});
  match();
}

void Twin::execute(ClientId id, const Command& command, Time now) {
  begin(now);
  std::visit([&](const auto& what) { run(client(id), what); }, command);
  match();
}

void Twin::run(Client& client, const PutLine& put) {
  ++commands_.put;
  client.skipping_upload = put.fate == PutFate::kTooBig;
  if (put.fate == PutFate::kTrailing) return say(client, ReplyWord::kBadFormat);
  if (put.fate == PutFate::kTooBig) return;
  client.producer = true;
  client.upload_bytes = put.body_bytes;
  Job& job = client.upload.emplace();
  job.id = next_id++;
  job.tube = client.used;
  job.pri = put.pri;
  job.delay = put.delay;
  job.ttr = std::max(put.ttr, 1U);
  job.created_at = now_;
}

void Twin::run(Client& client, const PutBody& put) {
  Job job = *std::exchange(client.upload, std::nullopt);
  if (!put.terminated || draining || log_state != LogState::kOk || !put.has_room) {
    drop_tube(job.tube);
    return say(client, !put.terminated ? ReplyWord::kExpectedCrlf
                       : draining      ? ReplyWord::kDraining
                       : log_failed()  ? ReplyWord::kInternalError
                                       : ReplyWord::kOutOfMemory);
  }
  job.body = put.body;
  job.segment = segment;
  job.state = job.delay == 0 ? JobState::kReady : JobState::kDelayed;
  job.deadline_at = now_ + seconds(job.delay);
  ++total_jobs_;
  for (Tube& tube : tubes) tube.total_jobs += tube.number == job.tube ? 1 : 0;
  record(put_record(job));
  say(client, ReplyWord::kInserted, job.id);
  jobs.push_back(std::move(job));
}

void Twin::run(Client& client, const PutSkipped&) {
  client.skipping_upload = false;
  say(client, ReplyWord::kJobTooBig);
}

void Twin::run(Client& client, const Use& use) {
  ++commands_.use;
  const Serial before = std::exchange(client.used, tube_named(use.tube));
  drop_tube(before);
  say(client, ReplyWord::kUsing, 0, use.tube);
}

void Twin::run(Client& client, const Reserve&) {
  ++commands_.reserve;
  reserve(client, 0, true);
}

void Twin::run(Client& client, const ReserveWithTimeout& with) {
  ++commands_.reserve_with_timeout;
  reserve(client, with.seconds, false);
}

void Twin::reserve(Client& client, std::uint32_t timeout, bool for_ever) {
  client.worker = true;
  const bool any_ready = std::ranges::any_of(
      client.watched, [&](Serial number) { return first(number, JobState::kReady) != nullptr; });
  const bool soon = margin_of(client) <= now_;
  if (soon && !any_ready) return say(client, ReplyWord::kDeadlineSoon);
  const bool queues =
      std::ranges::any_of(client.watched, [&](Serial number) { return pending(number); });
  Job* job = queues ? nullptr : best_for(client);
  if (job != nullptr) return hand_out(*job, client);
  if (!queues && (client.half_closed || (timeout == 0 && !for_ever))) {
    return say(client, soon ? ReplyWord::kDeadlineSoon : ReplyWord::kTimedOut);
  }
  client.waiting = true;
  client.wait_began = ++last_wait_;
  client.wait_end = client.half_closed ? now_ : for_ever ? kNever : now_ + seconds(timeout);
}

void Twin::run(Client& client, const ReserveJob& reserve) {
  Job* job = find_job(reserve.id);
  if (job == nullptr || job->state == JobState::kReserved) {
    return say(client, ReplyWord::kNotFound);
  }
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  client.worker = true;
  hand_out(*job, client);
}

// Reserves the job, whatever its state.
void Twin::hand_out(Job& job, Client& client) {
  end_wait(client);
  ++job.reserves;
  if (job.state == JobState::kReady) {
    record(ReserveNote{job.id, job.reserves});
  } else {
    record(ReserveJobRecord{job.id, job.reserves});
  }
  job.state = JobState::kReserved;
  job.owner = client.serial;
  job.deadline_at = now_ + seconds(job.ttr);
  say(client, ReplyWord::kReserved, job.id, job.body);
}

void Twin::run(Client& client, const Delete& del) {
  ++commands_.delete_;
  const Job* job = find_job(del.id);
  if (job == nullptr || (job->state == JobState::kReserved && job->owner != client.serial)) {
    return say(client, ReplyWord::kNotFound);
  }
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  const Serial number = job->tube;
  for (Tube& tube : tubes) tube.delete_count += tube.number == number ? 1 : 0;
  std::erase_if(jobs, [&](const Job& each) { return each.id == del.id; });
  drop_tube(number);
  record(DeleteRecord{del.id});
  say(client, ReplyWord::kDeleted);
}

void Twin::run(Client& client, const Release& release) {
  ++commands_.release;
  Job* job = owned(client, release.id);
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  ++job->releases;
  job->pri = release.pri;
  job->delay = release.delay;
  make_ready(*job);
  if (release.delay > 0) job->state = JobState::kDelayed;
  job->deadline_at = now_ + seconds(release.delay);
  record(ReleaseRecord{job->id, job->pri, job->delay, job->deadline_at});
  say(client, ReplyWord::kReleased);
}

void Twin::run(Client& client, const Bury& bury) {
  ++commands_.bury;
  Job* job = owned(client, bury.id);
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  ++job->buries;
  job->pri = bury.pri;
  make_ready(*job);
  job->state = JobState::kBuried;
  job->bury_order = ++bury_order;
  record(BuryRecord{job->id, job->pri, job->bury_order});
  say(client, ReplyWord::kBuried);
}

void Twin::run(Client& client, const Touch& touch) {
  ++commands_.touch;
  Job* job = owned(client, touch.id);
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  job->deadline_at = now_ + seconds(job->ttr);
  say(client, ReplyWord::kTouched);
}

void Twin::run(Client& client, const Watch& watch) {
  ++commands_.watch;
  const Serial number = tube_named(watch.tube);
  if (std::ranges::count(client.watched, number) == 0) client.watched.push_back(number);
  say(client, ReplyWord::kWatching, client.watched.size());
}

void Twin::run(Client& client, const Ignore& ignore) {
  ++commands_.ignore;
  const Tube* tube = find_tube(ignore.tube);
  if (tube != nullptr && std::ranges::count(client.watched, tube->number) != 0) {
    if (client.watched.size() == 1) return say(client, ReplyWord::kNotIgnored);
    ignore_tube(client, tube->number);
  }
  say(client, ReplyWord::kWatching, client.watched.size());
}

void Twin::run(Client& client, const Peek& peek) {
  ++commands_.peek;
  say_job(client, find_job(peek.id));
}

void Twin::run(Client& client, const PeekReady&) {
  ++commands_.peek_ready;
  say_job(client, first(client.used, JobState::kReady));
}

void Twin::run(Client& client, const PeekDelayed&) {
  ++commands_.peek_delayed;
  say_job(client, first(client.used, JobState::kDelayed));
}

void Twin::run(Client& client, const PeekBuried&) {
  ++commands_.peek_buried;
  say_job(client, first(client.used, JobState::kBuried));
}

void Twin::run(Client& client, const Kick& kick) {
  ++commands_.kick;
  const JobCounts there = counts(client.used);
  const bool buried = there.buried > 0;
  start({.kind = Work::Kind::kKick,
         .client = client.serial,
         .tube = client.used,
         .from = buried ? JobState::kBuried : JobState::kDelayed,
         .left = std::min<std::uint64_t>(kick.bound, buried ? there.buried : there.delayed)});
}

void Twin::run(Client& client, const KickJob& kick) {
  Job* job = find_job(kick.id);
  if (job == nullptr || (job->state != JobState::kBuried && job->state != JobState::kDelayed)) {
    return say(client, ReplyWord::kNotFound);
  }
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  kick_one(*job);
  say(client, ReplyWord::kKicked);
}

void Twin::kick_one(Job& job) {
  ++job.kicks;
  make_ready(job);
  record(KickRecord{job.id});
}

void Twin::run(Client& client, const Stats&) {
  ++commands_.stats;
  say(client, stats());
}

void Twin::run(Client& client, const StatsJob& stats) {
  ++commands_.stats_job;
  const Job* job = find_job(stats.id);
  if (job == nullptr) return say(client, ReplyWord::kNotFound);
  say(client, stats_of(*job));
}

void Twin::run(Client& client, const StatsTube& stats) {
  ++commands_.stats_tube;
  const Tube* tube = find_tube(stats.tube);
  if (tube == nullptr) return say(client, ReplyWord::kNotFound);
  say(client, stats_of(*tube));
}

void Twin::run(Client& client, const ListTubes&) {
  ++commands_.list_tubes;
  Work work{.kind = Work::Kind::kList, .client = client.serial};
  for (const Tube& tube : tubes) work.tubes.push_back(tube.number);
  start(std::move(work));
}

void Twin::run(Client& client, const ListTubeUsed&) {
  ++commands_.list_tube_used;
  say(client, ReplyWord::kUsing, 0, tube(client.used).name);
}

void Twin::run(Client& client, const ListTubesWatched&) {
  ++commands_.list_tubes_watched;
  start({.kind = Work::Kind::kList,
         .client = client.serial,
         .tubes = client.watched,
         .watched = true});
}

void Twin::run(Client& client, const PauseTube& pause) {
  ++commands_.pause_tube;
  if (!is_tube_name(pause.tube)) return say(client, ReplyWord::kBadFormat);
  Tube* tube = find_tube(pause.tube);
  if (tube == nullptr) return say(client, ReplyWord::kNotFound);
  if (log_failed()) return say(client, ReplyWord::kInternalError);
  ++tube->pause_count;
  this->pause(*tube, pause.delay, now_ + seconds(pause.delay), segment);
  if (pause.delay == 0) tube->recovered_pause = false;
  record(PauseRecord{tube->name, tube->pause, tube->paused_until});
  drop_tube(tube->number);  // it may be there only by a recovered pause
  say(client, ReplyWord::kPaused);
}

}  // namespace xylem::simulation
