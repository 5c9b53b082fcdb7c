// A start that changes nothing and keeps of each job only what is counted: its tube and its state.
// What the log cannot tell, such as a delay that has run out since, is not guessed.
#include "xylem/storage/check_log.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>

#include "storage/dump_text.h"
#include "xylem/core/command.h"
#include "xylem/storage/recovery.h"
#include "xylem/storage/segment.h"

namespace xylem {
namespace {

struct TubeTotals {
  JobCounts jobs;
  bool paused = false;
};

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

  [[nodiscard]] JobCounts all() const {
    JobCounts all;
    for (const auto& [id, job] : jobs_) count(all, job.state);
    return all;
  }
  // Those that have jobs, or are paused.
  [[nodiscard]] std::map<std::string_view, TubeTotals> tubes() const {
    std::map<std::string_view, TubeTotals> tubes;
    for (const auto& [id, job] : jobs_) count(tubes[job.tube->first].jobs, job.state);
    for (const auto& [tube, until] : pauses_) {
      if (until > now_) tubes[tube].paused = true;
    }
    return tubes;
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

  Tubes tubes_;
  std::unordered_map<JobId, Job> jobs_;
  std::map<std::string, Time> pauses_;
  Time now_{};
};

std::uint64_t sum(const JobCounts& jobs) { return jobs.ready + jobs.delayed + jobs.buried; }

std::string text(const JobCounts& jobs) {
  return fmt::format("{} ready, {} delayed, {} buried", jobs.ready, jobs.delayed, jobs.buried);
}

std::string totals_as_text(const Recovered& found, const Totals& totals) {
  std::string whole;
  const auto out = std::back_inserter(whole);
  for (const FoundSegment& segment : found.segments) {
    fmt::format_to(out, "{}: {} of {} bytes used{}\n", segment_name(segment.number), segment.end,
                   segment.bytes, segment.damaged ? ", damaged" : "");
  }
  for (const SegmentNumber spare : found.spares) {
    fmt::format_to(out, "{}: spare\n", segment_name(spare));
  }
  fmt::format_to(out, "last batch: {}, last id: {}\n", found.last_index, found.last_id);
  const JobCounts all = totals.all();
  fmt::format_to(out, "{} jobs: {}\n", sum(all), text(all));
  for (const auto& [tube, each] : totals.tubes()) {
    if (sum(each.jobs) > 0) fmt::format_to(out, "tube {}: {}\n", tube, text(each.jobs));
  }
  for (const auto& [tube, each] : totals.tubes()) {
    if (each.paused) fmt::format_to(out, "tube {} is paused\n", tube);
  }
  if (!found.torn_tail.empty()) fmt::format_to(out, "torn tail: {}\n", found.torn_tail);
  for (const Damage& damage : found.damage) fmt::format_to(out, "damage: {}\n", damage.text);
  fmt::format_to(out, "{}\n", found.damage.empty() ? "no damage" : "the log is damaged");
  return whole;
}

std::string json(const JobCounts& jobs) {
  return fmt::format(R"("ready":{},"delayed":{},"buried":{})", jobs.ready, jobs.delayed,
                     jobs.buried);
}

template <class List, class ToText>
std::string json_list(const List& list, ToText to_text) {
  std::string text;
  for (const auto& each : list) text.append(text.empty() ? "" : ",").append(to_text(each));
  return "[" + text + "]";
}

std::string totals_as_json(const Recovered& found, const Totals& totals) {
  const auto segments = json_list(found.segments, [](const FoundSegment& segment) {
    return fmt::format(R"({{"file":"{}","bytes":{},"used":{},"damaged":{}}})",
                       segment_name(segment.number), segment.bytes, segment.end, segment.damaged);
  });
  const auto spares = json_list(
      found.spares, [](SegmentNumber number) { return json_string(segment_name(number)); });
  const auto tubes = json_list(totals.tubes(), [](const auto& tube) {
    return fmt::format(R"({{"name":{},{},"paused":{}}})", json_string(tube.first),
                       json(tube.second.jobs), tube.second.paused);
  });
  const auto damage =
      json_list(found.damage, [](const Damage& each) { return json_string(each.text); });
  return fmt::format(R"({{"segments":{},"spares":{},"last-batch":{},"last-id":{},{},"tubes":{},)"
                     R"("torn-tail":{},"damage":{}}})"
                     "\n",
                     segments, spares, found.last_index, found.last_id, json(totals.all()), tubes,
                     json_string(found.torn_tail), damage);
}

}  // namespace

Result<bool> check_log(Directory& directory, DumpFormat format, std::FILE* out) {
  Totals totals;
  auto recovered = recover(directory, totals, true);
  if (!recovered) return recovered.error();
  const auto to_text = format == DumpFormat::kJson ? totals_as_json : totals_as_text;
  const std::string text = to_text(recovered.value(), totals);
  std::fwrite(text.data(), 1, text.size(), out);
  return recovered.value().damage.empty();
}

}  // namespace xylem
