// What each record does to the jobs that are known. The tube is that of a job's first full record;
// all other fields, and the body, are those of the last one that has them.
#include "storage/binlog_index.h"

#include <algorithm>

#include "xylem/check.h"

namespace xylem::binlog {
namespace {

void take_fields(LivingJob& job, const Fields& fields, const Layout& layout) {
  job.state = static_cast<State>(fields.state);
  job.pri = fields.pri;
  job.delay = seconds_from(fields.delay, layout);
  job.ttr = seconds_from(fields.ttr, layout);
  job.created_at = time_from(fields.created_at, layout);
  job.deadline_at = deadline_from(fields.deadline_at, layout);
  job.reserves = fields.reserves;
  job.timeouts = fields.timeouts;
  job.releases = fields.releases;
  job.buries = fields.buries;
  job.kicks = fields.kicks;
}

bool deletes(const Fields& fields) { return static_cast<State>(fields.state) == State::kDeleted; }

}  // namespace

void Index::apply_full(std::string_view tube, const Fields& fields, const Layout& layout,
                       Place body, bool body_ended) {
  constexpr auto kCrlf = static_cast<std::int32_t>(kCrlfBytes);
  CHECK(fields.id != 0 && fields.body_size >= kCrlf);
  highest_id_ = std::max(highest_id_, fields.id);
  if (deletes(fields)) return forget(fields.id);
  const auto [entry, is_new] = jobs_.try_emplace(fields.id);
  LivingJob& job = entry->second;
  if (is_new) {
    auto known = tubes_.find(tube);
    if (known == tubes_.end()) known = tubes_.emplace(tube, 0).first;
    ++known->second;
    job.id = fields.id;
    job.order = ++last_order_;
    job.tube = &known->first;
  }
  take_fields(job, fields, layout);
  job.body = body;
  job.body_bytes = static_cast<std::uint32_t>(fields.body_size - kCrlf);
  job.body_ended = body_ended;
  job.trouble = !is_tube_name(*job.tube)           ? Trouble::kIllegalTube
                : job.body_bytes > most_job_bytes_ ? Trouble::kTooLarge
                                                   : Trouble::kNone;
}

void Index::apply_short(const Fields& fields, const Layout& layout) {
  CHECK(fields.id != 0);
  highest_id_ = std::max(highest_id_, fields.id);
  const auto entry = jobs_.find(fields.id);
  if (entry == jobs_.end()) {
    ++ownerless_;
  } else if (deletes(fields)) {
    forget(fields.id);
  } else {
    take_fields(entry->second, fields, layout);
  }
}

void Index::forget(JobId id) {
  const auto entry = jobs_.find(id);
  if (entry == jobs_.end()) return;
  const auto tube = tubes_.find(*entry->second.tube);
  if (--tube->second == 0) tubes_.erase(tube);
  jobs_.erase(entry);
}

std::vector<const LivingJob*> Index::in_order() const {
  std::vector<const LivingJob*> jobs;
  jobs.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) jobs.push_back(&job);
  std::ranges::sort(jobs, {}, &LivingJob::order);
  return jobs;
}

}  // namespace xylem::binlog
