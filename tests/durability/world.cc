// One client does everything: what is tested is the way to the disk and back, not who may do what,
// which is the simulation's.
#include "durability/world.h"

#include <fmt/format.h>
#include <spdlog/sinks/null_sink.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "xylem/storage/recovery.h"

namespace xylem::durability {

using simulation::KeptRecord;
using test::Fate;
using test::MemoryDisk;

namespace {

constexpr std::uint64_t kSegmentBytes = 16'384;
constexpr std::array<std::string_view, 3> kTubes{"default", "one", "two"};

class Applier final : public RecordSink {
 public:
  explicit Applier(Engine& engine) : engine_(engine) {}
  void take(const Record& record, SegmentNumber segment, Time now) override {
    if (const auto* pause = std::get_if<PauseRecord>(&record)) {
      pauses_[std::string(pause->tube)] = pause->until;
    }
    engine_.apply(record, now, segment);
  }
  void progress(std::uint64_t, std::uint64_t) override {}

  // The engine tells whole seconds: two pauses of a tube may look alike. Here they do not.
  [[nodiscard]] std::string other_pause(const Model& model, Time now) const {
    for (const auto& [tube, pause] : model.pauses) {
      if (pause.until <= now) continue;
      const auto found = pauses_.find(tube);
      if (found == pauses_.end() || found->second != pause.until) return tube + ": another pause";
    }
    return {};
  }

 private:
  Engine& engine_;
  std::map<std::string, Time> pauses_;  // when the last one that was told of ends
};

}  // namespace

// A recovered engine, asked by its only client.
class Asked {
 public:
  Asked(Engine& engine, Time now) : engine_(engine), now_(now), client_(engine.connect(now)) {}

  const Output& ask(const Command& command) {
    out_.clear();
    engine_.execute(client_, command, now_, out_);
    return out_;
  }
  template <class Details>
  const Details* details(const Command& command) {
    return std::get_if<Details>(&ask(command).details);
  }
  // The id and body of the job that comes back; 0 if none does.
  std::pair<JobId, std::string> peek(const Command& command) {
    const Reply& reply = ask(command).replies.at(0);
    if (reply.word != ReplyWord::kFound) return {0, ""};
    return {reply.number, std::string(reply.text)};
  }

 private:
  Engine& engine_;
  Time now_;
  ClientId client_;
  Output out_;
};

namespace {

// Statistics show a tick less, so that a fresh delay of 2 shows 1.
std::int64_t left(Time deadline, Time now) {
  return deadline <= now ? 0 : whole_seconds(deadline - now - Duration(1));
}

std::string job_text(const JobStats& s, std::string_view body) {
  return fmt::format("job {} {} {} pri {} age {} delay {} ttr {} left {} counts {} {} {} {} {} {}",
                     s.id, s.tube, name_of(s.state), s.pri, s.age, s.delay, s.ttr, s.time_left,
                     s.reserves, s.timeouts, s.releases, s.buries, s.kicks, body);
}

std::string expected_job(const Model& model, JobId id, Time now) {
  const auto found = model.jobs.find(id);
  if (found == model.jobs.end()) return "no job";
  const ModelJob& job = found->second;
  const bool delayed = job.state == JobState::kDelayed && job.deadline_at > now;
  const bool ready = job.state == JobState::kDelayed && !delayed;
  return job_text({.id = id,
                   .tube = job.tube,
                   .state = ready ? JobState::kReady : job.state,
                   .pri = job.pri,
                   .age = whole_seconds(now - job.created_at),
                   .delay = job.delay,
                   .ttr = job.ttr,
                   .time_left = delayed ? left(job.deadline_at, now) : 0,
                   .reserves = job.reserves,
                   .timeouts = job.timeouts,
                   .releases = job.releases,
                   .buries = job.buries,
                   .kicks = job.kicks},
                  job.body);
}

// Where engine and model differ; empty if they do not.
std::string job_difference(Asked& engine, const Model& model, JobId id, Time now) {
  const std::string expected = expected_job(model, id, now);
  const std::string body = engine.peek(Peek{id}).second;
  const auto* stats = engine.details<JobStats>(StatsJob{id});
  const std::string said = stats == nullptr ? "no job" : job_text(*stats, body);
  return said == expected ? ""
                          : fmt::format("job {}: expected {}\nbut it is {}", id, expected, said);
}

std::string pause_difference(Asked& engine, const Model& model, const std::string& tube, Time now) {
  const auto found = model.pauses.find(tube);
  if (found == model.pauses.end() || found->second.until <= now) return {};
  const auto* stats = engine.details<TubeStats>(StatsTube{tube});
  if (stats == nullptr) return fmt::format("tube {} is paused, and not there", tube);
  if (stats->pause == found->second.delay &&
      stats->pause_time_left == left(found->second.until, now)) {
    return {};
  }
  return fmt::format("tube {}: pause {} with {} left", tube, stats->pause, stats->pause_time_left);
}

std::string state_difference(Asked& engine, const Model& model, JobId most_id, Time now) {
  for (JobId id = 1; id <= most_id; ++id) {
    if (std::string text = job_difference(engine, model, id, now); !text.empty()) return text;
  }
  for (const std::string_view tube : kTubes) {
    std::string text = pause_difference(engine, model, std::string(tube), now);
    if (!text.empty()) return text;
  }
  return {};
}

// Kicks all that is buried.
std::string order_difference(Asked& engine, const Model& model) {
  for (const std::string_view tube : kTubes) {
    engine.ask(Use{tube});
    for (const JobId id : model.buried(std::string(tube))) {
      const JobId first = engine.peek(PeekBuried{}).first;
      if (first != id) return fmt::format("tube {}: {} is first, not {}", tube, first, id);
      engine.ask(Kick{1});
    }
  }
  return {};
}

// What is due is done.
void settle(Engine& engine, Time now) {
  Output out;
  while (engine.next_deadline() <= now) {
    out.clear();
    engine.tick(now, out);
  }
}

JobId touched_by(const Record& record) {
  return std::visit(
      [](const auto& one) -> JobId {
        if constexpr (requires { one.id; }) return one.id;
        return 0;
      },
      record);
}

}  // namespace

World::World(std::uint64_t seed)
    : seed_(seed), random_(seed), logger_("", std::make_shared<spdlog::sinks::null_sink_st>()) {
  uv_loop_init(&loop_);
  start(std::make_unique<MemoryDisk>());
}

World::~World() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  uv_loop_close(&loop_);
}

std::uint32_t World::random(std::uint32_t below) {
  return static_cast<std::uint32_t>(random_() % below);
}

JobId World::some_job() {
  const JobId recent = std::min<JobId>(most_id_, 12);
  return most_id_ == 0 ? 1 : most_id_ - random(static_cast<std::uint32_t>(recent));
}

void World::start(std::unique_ptr<MemoryDisk> disk) {
  writing_.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);  // what the compactor had under way
  compactor_.reset();
  log_.reset();
  engine_ = std::make_unique<Engine>(Engine::Options{.recording = true});
  disk_ = std::move(disk);
  Applier applier(*engine_);
  auto found = recover(*disk_, applier, false);
  if (!found) fail(found.error().text);
  engine_->raise_marks(found.value().last_id, found.value().last_bury_order);
  open_log(found.value());
  client_ = engine_->connect(now_);
  uploading_ = false;
}

void World::open_log(const Recovered& found) {
  auto opened = WriteAheadLog::open(*disk_, kSegmentBytes, found);
  if (!opened) fail(opened.error().text);
  log_ = std::move(opened).value();
  compactor_ = std::make_unique<Compactor>(loop_, *disk_, *log_, *engine_, logger_);
  engine_->set_segment(segment_ = log_->current());
  disk_->before_each([this] {
    if (static_cast<int>(random(1'000)) >= cuts_in_thought_) return;
    const bool in_order = random(2) == 0;
    std::uint32_t kept = random(40);
    const auto choose = [&]() -> Fate {
      if (in_order) return kept == 0 ? Fate::kDropped : (--kept, Fate::kKept);
      return static_cast<Fate>(random(3));
    };
    cuts_.push_back({disk_->after_power_cut(choose), log_->durable(), history_.size(), in_order});
  });
}

void World::run(int steps, int cuts_in_thought) {
  cuts_in_thought_ = cuts_in_thought;
  for (int i = 0; i < steps && !log_->has_failed(); ++i) {
    step();
    look_at_cuts();
    look_at_space();
  }
  cuts_in_thought_ = 0;
}

bool World::run_until_failure(std::uint64_t nth, int steps) {
  disk_->fail_at(nth);
  run(steps, 0);
  return log_->has_failed();
}

// As a server does: while the log is over its bound no command is run.
void World::step() {
  switch (compactor_->is_behind() ? 18 + random(6) : random(24)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return put();
    case 5:
    case 6:
      return execute(ReserveWithTimeout{0});
    case 7:
      return execute(Delete{some_job()});
    case 8:
      return execute(Delete{some_job()});
    case 9:
      return execute(Release{some_job(), random(5), random(2) * random(3)});
    case 10:
      return execute(Bury{some_job(), random(5)});
    case 11:
      return execute(Kick{1 + random(3)});
    case 12:
      return execute(KickJob{some_job()});
    case 13:
      return execute(ReserveJob{some_job()});
    case 14:
      return execute(Use{kTubes[random(3)]});
    case 15:
      return execute(Watch{kTubes[random(3)]});
    case 16:
      return execute(PauseTube{kTubes[random(3)], random(4)});
    case 17:
      now_ += Duration(random(15'000));
      return;
    case 18:
    case 19:
      return write();
    case 20:
      return finish_write();
    case 21:
      return do_chore();
    default:
      return compact();
  }
}

void World::put() {
  execute(PutLine{.pri = random(5), .delay = random(3) == 0 ? random(5) : 0, .ttr = 1 + random(5)});
  // Long bodies are the Buffer's, and one in a hundred is larger than a segment.
  const std::uint32_t bytes = random(10) == 0 ? random(100) == 0 ? 20'000 : 5'000 : random(300);
  largest_body_bytes_ = std::max(largest_body_bytes_, bytes);
  std::string body(bytes, 'x');
  for (char& each : body) each = static_cast<char>('a' + random(26));
  BufferRef buffer;
  if (bytes > limits::kInlineBodyBytes) {
    buffer = Buffer::make(bytes + 2);
    buffer->append(body);
    buffer->append("\r\n");
    execute(PutBody{.body = buffer->view().substr(0, bytes), .buffer = buffer.get()});
  } else {
    execute(PutBody{.body = body});
  }
}

void World::execute(const Command& command) {
  if (engine_->next_deadline() <= now_) {
    out_.clear();
    engine_->tick(now_, out_);
    take_output();
  }
  out_.clear();
  engine_->execute(client_, command, now_, out_);
  take_output();
  most_id_ = std::max(most_id_, engine_->last_id());
}

void World::take_output() {
  for (const Record& record : out_.records) {
    log_->append(record);
    history_.push_back({std::make_shared<KeptRecord>(record, 0), log_->newest()});
  }
}

// As a server does: moved records are told at once, the rest when the disk is done.
void World::write() {
  finish_write();
  writing_ = log_->begin_write({now_, now_, engine_->last_id(), engine_->last_bury_order()},
                               compactor_->wants_sync() || random(3) > 0);
  if (writing_ == nullptr) return;
  for (const MovedRecords& moved : writing_->moved) {
    for (const JobId id : moved.jobs) engine_->moved_to_segment(id, moved.to);
    for (const std::string& tube : moved.paused_tubes) engine_->moved_to_segment(tube, moved.to);
  }
  if (log_->current() != segment_) engine_->set_segment(segment_ = log_->current());
}

void World::finish_write() {
  if (writing_ == nullptr) return;
  writing_->run();
  log_->finish(std::move(writing_));
}

void World::do_chore() {
  auto chore = log_->begin_chore();
  if (chore == nullptr) return;
  chore->run();
  log_->finish(std::move(chore));
}

void World::compact() {
  const SegmentNumber oldest = log_->oldest();
  compactor_->step();
  uv_run(&loop_, UV_RUN_DEFAULT);
  if (compactor_->wants_sync()) write();
  do_chore();
  if (log_->oldest() != oldest) ++retired_;
}

// The bound of design.md, "Space"; what one delete of the largest job takes off it in one step is
// left out of account.
void World::look_at_space() {
  const std::uint64_t most = 2 * engine_->live_bytes() + 4 * kSegmentBytes +
                             2 * put_bytes(limits::kTubeNameBytes, largest_body_bytes_, true, true);
  if (log_->total_bytes() <= most || log_->has_failed()) return;
  fail(fmt::format("{} bytes on disk, and {} live", log_->total_bytes(), engine_->live_bytes()));
}

void World::look_at_cuts() {
  std::vector<Cut> cuts;
  std::swap(cuts, cuts_);
  for (const Cut& cut : cuts) check(cut);
}

Model World::model_at(std::size_t records) const {
  Model model;
  for (std::size_t i = 0; i < records; ++i) model.apply(history_[i].record->record);
  return model;
}

std::size_t World::durable_records(BatchIndex durable) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      history_, [durable](const Logged& logged) { return logged.batch <= durable; }));
}

std::size_t World::check(const Cut& cut) {
  ++checks_;
  Engine engine({.recording = true});
  Applier applier(engine);
  auto found = recover(*cut.disk, applier, false);
  if (!found) fail(found.error().text);
  engine.raise_marks(found.value().last_id, found.value().last_bury_order);
  settle(engine, now_);
  engine.check();
  Asked asked(engine, now_);
  if (!cut.in_order) {
    check_garbled(asked, cut);
    return 0;
  }
  if (!found.value().damage.empty()) fail(found.value().damage.front().text);
  const std::size_t durable = durable_records(cut.durable);
  std::string difference;
  for (std::size_t records = durable; records <= cut.records; ++records) {
    const Model model = model_at(records);
    difference = state_difference(asked, model, most_id_, now_);
    if (difference.empty()) difference = applier.other_pause(model, now_);
    if (!difference.empty()) continue;
    difference = order_difference(asked, model);
    if (difference.empty()) return records;
    break;
  }
  fail(fmt::format("no state between records {} and {}: {}", durable, cut.records, difference));
}

void World::check_garbled(Asked& asked, const Cut& cut) {
  const std::size_t durable = durable_records(cut.durable);
  std::vector<bool> touched(most_id_ + 1);
  for (std::size_t i = durable; i < cut.records; ++i) {
    touched[touched_by(history_[i].record->record)] = true;
  }
  const Model model = model_at(durable);
  for (JobId id = 1; id <= most_id_; ++id) {
    if (touched[id]) continue;
    if (std::string text = job_difference(asked, model, id, now_); !text.empty()) fail(text);
  }
}

void World::cut_power() {
  finish_write();
  std::uint32_t kept = random(60);
  const auto choose = [&kept] { return kept == 0 ? Fate::kDropped : (--kept, Fate::kKept); };
  Cut cut{disk_->after_power_cut(choose), log_->durable(), history_.size(), true};
  auto disk = cut.disk->after_kill();
  history_.resize(check(cut));
  start(std::move(disk));
}

void World::kill() {
  finish_write();
  Cut cut{disk_->after_kill(), log_->durable(), history_.size(), true};
  auto disk = cut.disk->after_kill();
  history_.resize(check(cut));
  start(std::move(disk));
}

void World::restart() {
  uv_run(&loop_, UV_RUN_DEFAULT);
  finish_write();
  while (log_->durable() < log_->newest() && !log_->has_failed()) {
    do_chore();
    writing_ =
        log_->begin_write({now_, now_, engine_->last_id(), engine_->last_bury_order()}, true);
    finish_write();
  }
  if (auto closed = log_->close(); !closed) fail(closed.error().text);
  Cut cut{disk_->after_kill(), log_->durable(), history_.size(), true};
  auto disk = cut.disk->after_kill();
  if (check(cut) != history_.size()) fail("a clean stop lost something");
  start(std::move(disk));
}

void World::fail(const std::string& what) const {
  fmt::print(stderr, "seed {}: {}\n", seed_, what);
  std::abort();
}

}  // namespace xylem::durability
