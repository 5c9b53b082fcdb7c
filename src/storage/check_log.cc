// A start that changes nothing and keeps of each job only what is counted: its tube and its state.
// What the log cannot tell, such as a delay that has run out since, is not guessed.
#include "xylem/storage/check_log.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>

#include "xylem/core/command.h"
#include "xylem/storage/recovery.h"
#include "xylem/storage/segment.h"

namespace xylem {
namespace {

class Totals final : public RecordSink {
 public:
  void take(const Record& record, SegmentNumber, Time now) override {
    now_ = now;
    std::visit(
        overloaded{
            [this](const PutRecord& put) { take_put(put); },
            [this](const ReleaseRecord& release) {
              move(release.id, release.delay > 0 ? JobState::kDelayed : JobState::kReady,
                   release.deadline_at);
            },
            [this](const BuryRecord& bury) { move(bury.id, JobState::kBuried); },
            [this](const KickRecord& kick) { move(kick.id, JobState::kReady); },
            [this](const ReserveJobRecord& job) { move(job.id, JobState::kReady); },
            [this](const MoveRecord& job) { take_move(job); },
            [this](const FlushRecord& flush) { take_flush(flush); },
            [this](const PauseRecord& pause) { pauses_[std::string(pause.tube)] = pause.until; },
            [](const auto&) {}},
        record);
  }
  void progress(std::uint64_t, std::uint64_t) override {}

  void print(std::FILE* out) const {
    JobCounts all;
    std::map<std::string_view, JobCounts> tubes;
    for (const auto& [id, job] : jobs_) {
      count(all, job.state);
      count(tubes[job.tube->first], job.state);
    }
    fmt::print(out, "{} jobs: {}\n", jobs_.size(), text(all));
    for (const auto& [tube, counts] : tubes) fmt::print(out, "tube {}: {}\n", tube, text(counts));
    for (const auto& [tube, until] : pauses_) {
      if (until > now_) fmt::print(out, "tube {} is paused\n", tube);
    }
  }

 private:
  using Tubes = std::map<std::string, char>;  // the names, each at an address that stays
  struct Job {
    const Tubes::value_type* tube;
    JobState state;
    Time deadline_at;  // if delayed
  };

  void take_put(const PutRecord& put) {
    const auto tube = tubes_.try_emplace(std::string(put.tube)).first;
    jobs_[put.id] = {&*tube, put.state, put.deadline_at};
  }

  void move(JobId id, JobState state, Time deadline_at = {}) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) return;
    job->second.state = state;
    job->second.deadline_at = deadline_at;
  }

  void take_move(const MoveRecord& record) {
    const auto job = jobs_.find(record.id);
    if (job == jobs_.end()) return;
    job->second.tube = &*tubes_.try_emplace(std::string(record.tube)).first;
  }

  void take_flush(const FlushRecord& flush) {
    std::erase_if(jobs_, [&](const auto& one) {
      const auto& [id, job] = one;
      const bool was_due = job.state == JobState::kDelayed && job.deadline_at <= flush.at;
      const JobState state = was_due ? JobState::kReady : job.state;
      return job.tube->first == flush.tube && !flush.reserved.contains(id) &&
             state == flush.state.value_or(state);
    });
  }

  static void count(JobCounts& counts, JobState state) {
    counts.ready += state == JobState::kReady ? 1 : 0;
    counts.delayed += state == JobState::kDelayed ? 1 : 0;
    counts.buried += state == JobState::kBuried ? 1 : 0;
  }

  static std::string text(const JobCounts& counts) {
    return fmt::format("{} ready, {} delayed, {} buried", counts.ready, counts.delayed,
                       counts.buried);
  }

  Tubes tubes_;
  std::unordered_map<JobId, Job> jobs_;
  std::map<std::string, Time> pauses_;
  Time now_{};
};

}  // namespace

Result<bool> check_log(Directory& directory, std::FILE* out) {
  Totals totals;
  auto recovered = recover(directory, totals, true);
  if (!recovered) return recovered.error();
  const Recovered& found = recovered.value();
  for (const FoundSegment& segment : found.segments) {
    fmt::print(out, "{}: {} of {} bytes used{}\n", segment_name(segment.number), segment.end,
               segment.bytes, segment.damaged ? ", damaged" : "");
  }
  for (const SegmentNumber spare : found.spares) {
    fmt::print(out, "{}: spare\n", segment_name(spare));
  }
  fmt::print(out, "last batch: {}, last id: {}\n", found.last_index, found.last_id);
  totals.print(out);
  if (!found.torn_tail.empty()) fmt::print(out, "torn tail: {}\n", found.torn_tail);
  for (const Damage& damage : found.damage) fmt::print(out, "damage: {}\n", damage.text);
  fmt::print(out, "{}\n", found.damage.empty() ? "no damage" : "the log is damaged");
  return found.damage.empty();
}

}  // namespace xylem
