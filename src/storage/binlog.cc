// The import of a directory of binlogs, in two passes: the first finds out from all records which
// jobs live, the second reads their bodies again and hands them out.
#include "xylem/storage/binlog.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/binlog_bodies.h"
#include "storage/binlog_directory.h"
#include "storage/binlog_index.h"
#include "storage/binlog_scan.h"
#include "storage/binlog_window.h"

namespace xylem {
namespace {

using binlog::LivingJob;
using binlog::State;
using binlog::Trouble;

constexpr std::size_t kExamples = 10;

std::vector<BinlogGap> gaps_in(const std::vector<std::uint64_t>& numbers) {
  std::vector<BinlogGap> gaps;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] > 1) gaps.push_back({numbers[i - 1] + 1, numbers[i] - 1});
  }
  return gaps;
}

// A time that lies ahead of the clock's is one of a clock that was set back since: no job is
// younger than new, or waits longer than its delay.
PutRecord record_of(const LivingJob& job, std::string_view body, Time now) {
  const Time deadline_at = std::min(job.deadline_at, now + seconds(job.delay));
  const JobState state = job.state == State::kBuried                         ? JobState::kBuried
                         : job.state == State::kDelayed && deadline_at > now ? JobState::kDelayed
                                                                             : JobState::kReady;
  return {.id = job.id,
          .tube = *job.tube,
          .state = state,
          .pri = job.pri,
          .delay = job.delay,
          .ttr = std::max(job.ttr, 1U),
          .created_at = std::clamp(job.created_at, Time{}, std::max(now, Time{})),
          .deadline_at = state == JobState::kDelayed ? deadline_at : Time{},
          .reserves = job.reserves,
          .timeouts = job.timeouts,
          .releases = job.releases,
          .buries = job.buries,
          .kicks = job.kicks,
          .body = body};
}

void count(BinlogCounts& counts, JobState state) {
  if (state == JobState::kReady) ++counts.ready;
  if (state == JobState::kDelayed) ++counts.delayed;
  if (state == JobState::kBuried) ++counts.buried;
}

// A name that may have any bytes, for a line of text.
std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
    text += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text + "\"";
}

class Import {
 public:
  Import(const std::string& directory, std::uint32_t most_job_bytes, Time now)
      : directory_(directory), most_job_bytes_(most_job_bytes), now_(now), index_(most_job_bytes) {}

  // Both: nothing, or why it cannot be done.
  std::optional<Error> find_jobs(const std::vector<std::uint64_t>& numbers) {
    summary_.gaps = gaps_in(numbers);
    for (const std::uint64_t number : numbers) {
      const std::string name = binlog::binlog_name(number);
      Result<binlog::FileWindow> window = binlog::FileWindow::open(directory_ + "/" + name);
      if (!window) return window.error();
      summary_.files.push_back(binlog::scan(window.value(), summary_.files.size(), index_));
      summary_.files.back().name = name;
    }
    summary_.ownerless = index_.ownerless();
    summary_.highest_id = index_.highest_id();
    return std::nullopt;
  }

  std::optional<Error> hand_out(const ImportSink& sink) {
    binlog::Bodies bodies(
        [this](std::size_t file) { return directory_ + "/" + summary_.files[file].name; });
    std::uint64_t bury_order = 0;
    for (const LivingJob* job : index_.in_order()) {
      if (job->trouble != Trouble::kNone) {
        skip(*job);
        continue;
      }
      Result<std::string_view> body = bodies.body_of(*job);
      if (!body) return body.error();
      PutRecord record = record_of(*job, body.value(), now_);
      if (record.state == JobState::kBuried) record.bury_order = ++bury_order;
      sink(record);
      tell(*job, record.state);
    }
    return std::nullopt;
  }

  BinlogSummary take_summary() { return std::move(summary_); }

 private:
  void tell(const LivingJob& job, JobState state) {
    count(summary_.jobs, state);
    count(summary_.tubes[*job.tube], state);
    ++summary_.files[job.body.file].jobs;
    if (!job.body_ended) ++summary_.bodies_unended;
  }

  void skip(const LivingJob& job) {
    const bool large = job.trouble == Trouble::kTooLarge;
    const std::string why =
        large ? fmt::format("the body is larger than max-job-size, {} bytes", most_job_bytes_)
              : "the tube's name is not legal";
    auto skipped = std::ranges::find(summary_.skipped, why, &BinlogSkipped::why);
    if (skipped == summary_.skipped.end()) {
      skipped =
          summary_.skipped.insert(skipped, BinlogSkipped{.why = why, .jobs = 0, .examples = {}});
    }
    ++skipped->jobs;
    if (skipped->examples.size() == kExamples) return;
    skipped->examples.push_back(large
                                    ? fmt::format("job {} of {} bytes", job.id, job.body_bytes)
                                    : fmt::format("job {} of tube {}", job.id, quoted(*job.tube)));
  }

  const std::string& directory_;
  std::uint32_t most_job_bytes_;
  Time now_;
  binlog::Index index_;
  BinlogSummary summary_;
};

}  // namespace

Result<BinlogSummary> read_binlogs(const std::string& directory, std::uint32_t most_job_bytes,
                                   Time now_wall, const ImportSink& sink, BinlogLock lock) {
  const Result<binlog::Descriptor> shared =
      lock == BinlogLock::kShare ? binlog::share_lock(directory) : binlog::Descriptor();
  if (!shared) return shared.error();
  Result<std::vector<std::uint64_t>> numbers = binlog::binlog_numbers(directory);
  if (!numbers) return numbers.error();
  Import import(directory, most_job_bytes, now_wall);
  if (std::optional<Error> error = import.find_jobs(numbers.value())) return *error;
  if (std::optional<Error> error = import.hand_out(sink)) return *error;
  return import.take_summary();
}

}  // namespace xylem
