// Each record says what it changes; records of jobs that are not there change nothing. Written from
// core/record.h, not from core/apply.cc, and with no thought of speed.
#include "durability/model.h"

#include <algorithm>

#include "xylem/core/command.h"

namespace xylem::durability {
namespace {

ModelJob job_of(const PutRecord& put) {
  return {.tube = std::string(put.tube),
          .state = put.state,
          .pri = put.pri,
          .delay = put.delay,
          .ttr = put.ttr,
          .created_at = put.created_at,
          .deadline_at = put.deadline_at,
          .bury_order = put.bury_order,
          .reserves = put.reserves,
          .timeouts = put.timeouts,
          .releases = put.releases,
          .buries = put.buries,
          .kicks = put.kicks,
          .body = std::string(put.body)};
}

bool is_flushed(JobId id, const ModelJob& job, const FlushRecord& flush) {
  const bool was_due = job.state == JobState::kDelayed && job.deadline_at <= flush.at;
  const JobState state = was_due ? JobState::kReady : job.state;
  return job.tube == flush.tube && state == flush.state.value_or(state) &&
         !flush.reserved.contains(id);
}

}  // namespace

void Model::apply(const Record& record) {
  const auto with = [this](JobId id, auto change) {
    if (const auto found = jobs.find(id); found != jobs.end()) change(found->second);
  };
  std::visit(
      overloaded{
          [&](const PutRecord& r) { jobs[r.id] = job_of(r); },
          [&](const DeleteRecord& r) { jobs.erase(r.id); },
          [&](const ReleaseRecord& r) {
            with(r.id, [&](ModelJob& job) {
              job.state = r.delay == 0 ? JobState::kReady : JobState::kDelayed;
              job.pri = r.pri;
              job.delay = r.delay;
              job.deadline_at = r.deadline_at;
              ++job.releases;
            });
          },
          [&](const BuryRecord& r) {
            with(r.id, [&](ModelJob& job) {
              job.state = JobState::kBuried;
              job.pri = r.pri;
              job.bury_order = r.bury_order;
              ++job.buries;
            });
          },
          [&](const KickRecord& r) {
            with(r.id, [](ModelJob& job) { job.state = JobState::kReady, ++job.kicks; });
          },
          [&](const ReserveJobRecord& r) {
            with(r.id, [&](ModelJob& job) {
              job.state = JobState::kReady;
              job.reserves = r.reserves;
            });
          },
          [&](const PauseRecord& r) {
            if (r.delay == 0) pauses.erase(std::string(r.tube));
            if (r.delay != 0) pauses[std::string(r.tube)] = {r.delay, r.until};
          },
          [&](const ReserveNote& r) {
            with(r.id, [&](ModelJob& job) { job.reserves = r.reserves; });
          },
          [&](const TimeoutNote& r) {
            with(r.id, [&](ModelJob& job) { job.timeouts = r.timeouts; });
          },
          [&](const MoveRecord& r) {
            with(r.id, [&](ModelJob& job) {
              job.tube = r.tube;
              if (job.state == JobState::kBuried) job.bury_order = r.bury_order;
            });
          },
          [&](const FlushRecord& r) {
            std::erase_if(jobs,
                          [&](const auto& one) { return is_flushed(one.first, one.second, r); });
          },
          [&](const PriorityRecord& r) { with(r.id, [&](ModelJob& job) { job.pri = r.pri; }); },
          [](const IdNote&) {},
      },
      record);
}

std::vector<JobId> Model::buried(const std::string& tube) const {
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs) {
    if (job.state == JobState::kBuried && job.tube == tube) ids.push_back(id);
  }
  std::ranges::sort(ids, {}, [this](JobId id) { return jobs.at(id).bury_order; });
  return ids;
}

}  // namespace xylem::durability
