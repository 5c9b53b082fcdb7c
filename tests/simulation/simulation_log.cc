// What happens to the log: segments begin, turn out to be others than was said, and are retired
// after what lives in them was logged again; the log is full, or fails; the engine is thrown away
// and rebuilt from what the log holds. So compaction is shown to lose nothing: the records of
// retired segments are dropped for good.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulation.h"
#include "text.h"

namespace xylem::simulation {
namespace {

bool is_paused_like(const std::vector<Tube>& tubes, const Tube& one) {
  return std::ranges::any_of(tubes, [&](const Tube& each) {
    return each.name == one.name && each.pause == one.pause &&
           each.paused_until == one.paused_until && each.pause_segment == one.pause_segment;
  });
}

}  // namespace

KeptRecord::KeptRecord(const Record& from, std::uint32_t its_segment)
    : record(from), segment(its_segment) {
  if (auto* put = std::get_if<PutRecord>(&record)) {
    tube = put->tube;
    body = put->body;
    buffer = BufferRef(put->buffer);
    put->tube = tube;
    if (!buffer) put->body = body;
  } else if (auto* pause = std::get_if<PauseRecord>(&record)) {
    tube = pause->tube;
    pause->tube = tube;
  } else if (auto* move = std::get_if<MoveRecord>(&record)) {
    tube = move->tube;
    move->tube = tube;
  } else if (auto* flush = std::get_if<FlushRecord>(&record)) {
    tube = flush->tube;
    flush->tube = tube;
    body = flush->reserved.bytes;
    flush->reserved.bytes = body;
  }
}

// Full, or well again; now and then it fails, and what happens then is forgotten by the rebuilt.
void Simulation::change_log() {
  if (twin_.log_state == LogState::kFailed) return rebuild();
  const LogState state = now_step_[2] < 24                  ? LogState::kFailed
                         : twin_.log_state == LogState::kOk ? LogState::kFull
                                                            : LogState::kOk;
  write(fmt::format("# the log: {}", name_of(state)));
  if (state == LogState::kFailed) at_failure_ = std::make_unique<Twin>(twin_);
  engine_->set_log_state(state);
  twin_.set_log_state(state);
  output_.clear();
  twin_.replies.clear();
  twin_.records.clear();
  compare();
}

// The next segment; the last records, one batch, may turn out to stand there too.
void Simulation::begin_segment() {
  if (twin_.log_state == LogState::kFailed) return;
  const std::uint32_t number = segment_ + 1 + now_step_[2] % 2U;
  marks_[number] = {engine_->last_id(), engine_->last_bury_order()};
  demand(engine_->last_id() == twin_.next_id - 1, "ids up to the last count as given");
  demand(engine_->last_bury_order() == twin_.bury_order, "the last order of burying");
  write(fmt::format("# segment {}", number));
  engine_->set_segment(number);
  twin_.segment = number;
  std::size_t moved = now_step_[3] < 128 ? 0 : now_step_[3] % 8U;
  for (std::size_t i = history_.size(); i > 0 && moved > 0; --moved) {
    KeptRecord& kept = *history_[--i];
    if (kept.segment != segment_) break;
    kept.segment = number;
    if (const auto* put = std::get_if<PutRecord>(&kept.record)) {
      engine_->moved_to_segment(put->id, number);
      twin_.moved_to_segment(put->id, number);
    } else if (std::holds_alternative<PauseRecord>(kept.record)) {
      engine_->moved_to_segment(kept.tube, number);
      twin_.moved_to_segment(kept.tube, number);
    }
  }
  segment_ = number;
  compare_log();
}

// One job or pause, perhaps from where it does not stand.
void Simulation::log_one_again() {
  output_.clear();
  const auto from = [&](std::uint32_t stands_in) {
    return now_step_[2] < 32 ? stands_in + 1 : stands_in;
  };
  if (now_step_[3] < 64) {
    const std::string name = make_tube(now_step_[4]);
    const auto tube = std::ranges::find(twin_.tubes, name, &Tube::name);
    const std::uint32_t segment = from(tube == twin_.tubes.end() ? 0 : tube->pause_segment);
    engine_->log_again(name, segment, output_);
    twin_.log_again(name, segment);
  } else if (!twin_.jobs.empty()) {
    const Job& job = twin_.jobs[now_step_[4] % twin_.jobs.size()];
    const JobId id = job.id;
    const std::uint32_t segment = from(job.segment);
    engine_->log_again(id, segment, output_);
    twin_.log_again(id, segment);
  } else {
    return;
  }
  compare();
}

// By its records, as compaction does, or by a walk over all there is, as when it cannot be read.
void Simulation::log_oldest_again() {
  if (now_step_[3] < 128) {
    const std::size_t count = history_.size();
    for (std::size_t i = 0; i < count && history_[i]->segment == oldest_segment_; ++i) {
      output_.clear();
      const KeptRecord& kept = *history_[i];
      if (const auto* put = std::get_if<PutRecord>(&kept.record)) {
        engine_->log_again(put->id, oldest_segment_, output_);
        twin_.log_again(put->id, oldest_segment_);
      } else if (std::holds_alternative<PauseRecord>(kept.record)) {
        engine_->log_again(kept.tube, oldest_segment_, output_);
        twin_.log_again(kept.tube, oldest_segment_);
      } else {
        continue;
      }
      compare();
    }
    return;
  }
  output_.clear();
  for (JobId at = 0;;) {
    at = engine_->log_again_after(at, oldest_segment_, budget_, output_);
    if (at == 0) break;
  }
  while (!engine_->log_pauses_again(oldest_segment_, budget_, output_)) {
  }
  twin_.log_all_again(oldest_segment_);
  compare();
}

void Simulation::retire_segment() {
  if (oldest_segment_ == segment_ || twin_.log_state == LogState::kFailed) return;
  write(fmt::format("# segment {} goes", oldest_segment_));
  log_oldest_again();
  // Flushed jobs that are not freed yet stand there still; who compacts waits for that.
  demand(twin_.live_in(oldest_segment_) == 0, "nothing stands in what was logged again");
  if (engine_->live_in(oldest_segment_) != 0) return demand(twin_.unfreed > 0, "so in the engine");
  std::erase_if(history_, [&](const auto& kept) { return kept->segment == oldest_segment_; });
  marks_.erase(oldest_segment_);
  ++oldest_segment_;
}

// Throws the engine away. What ran out without a record (delays, pauses) runs out again at once.
void Simulation::rebuild() {
  write("# the engine is rebuilt from its records");
  pass_to(now_ + Duration(1));  // no command was executed later than this
  engine_ = std::make_unique<Engine>(Engine::Options{.budget = budget_, .recording = true});
  engine_->set_segment(segment_);
  std::vector<FoundRecord> found;
  JobId given = 0;
  for (const auto& [segment, mark] : marks_) {
    given = std::max(given, mark.last_id);
    engine_->raise_marks(mark.last_id, mark.last_bury_order);
  }
  for (const auto& kept : history_) {
    engine_->apply(kept->record, now_, kept->segment);
    found.push_back({kept->record, kept->segment, kept->flushed});
  }
  engine_->check();
  const Twin before = at_failure_ == nullptr ? twin_ : std::move(*at_failure_);
  at_failure_.reset();
  twin_ = before.rebuilt(found, given);
  demand(twin_.jobs.size() == before.jobs.size(), "no deleted job comes back");
  for (const Tube& tube : before.tubes) {
    demand(tube.pause == 0 || is_paused_like(twin_.tubes, tube), "a pause comes back");
  }
  while (std::min(engine_->next_deadline(), twin_.next_deadline()) <= now_) {
    output_.clear();
    engine_->tick(now_, output_);
    twin_.tick(now_);
    demand(output_.replies.empty(), "nobody is there to hear a reply");
  }
  output_.clear();
  twin_.records.clear();
  compare();
  look_at_all();
}

// A client asks for all that can be known of each job and tube.
void Simulation::look_at_all() {
  connect();
  const ClientId reader = twin_.clients.back().id;
  const std::vector<Job> jobs = twin_.jobs;
  for (const Job& job : jobs) {
    tell(reader, fmt::format("stats-job {}", job.id), StatsJob{job.id});
    tell(reader, fmt::format("peek {}", job.id), Peek{job.id});
  }
  const std::vector<Tube> tubes = twin_.tubes;
  for (const Tube& tube : tubes) {
    tell(reader, fmt::format("stats-tube {}", tube.name), StatsTube{tube.name});
  }
  close(twin_.clients.back(), false);
}

void Simulation::compare_log() {
  // Flushed jobs count until they are freed.
  const std::uint64_t bytes = twin_.live_bytes();
  const bool more = twin_.unfreed > 0 && engine_->live_bytes() > bytes;
  if (!more && engine_->live_bytes() != bytes) {
    demand(false, fmt::format("live bytes: {} for {}", engine_->live_bytes(), bytes));
  }
  const auto some =
      static_cast<std::uint32_t>(oldest_segment_ + step_count_ % (segment_ - oldest_segment_ + 1));
  for (const std::uint32_t segment : {oldest_segment_, some, segment_}) {
    if (twin_.unfreed > 0 && engine_->live_in(segment) > twin_.live_in(segment)) continue;
    if (engine_->live_in(segment) == twin_.live_in(segment)) continue;
    demand(false, fmt::format("live in segment {}: {} for {}", segment, engine_->live_in(segment),
                              twin_.live_in(segment)));
  }
}

}  // namespace xylem::simulation
