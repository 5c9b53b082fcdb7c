// What an import hands out, kept: the tests look at it afterwards, when the views of the records
// have ended.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "xylem/core/limits.h"
#include "xylem/storage/binlog.h"

namespace xylem::test {

// A record with its own tube and body; those of `record` itself are gone.
struct Taken {
  explicit Taken(const PutRecord& from) : record(from), tube(from.tube), body(from.body) {
    record.tube = {};
    record.body = {};
  }
  PutRecord record;
  std::string tube;
  std::string body;
};

struct Imported {
  std::vector<Taken> jobs;
  BinlogSummary summary;
  std::string error;

  [[nodiscard]] std::vector<JobId> ids() const {
    std::vector<JobId> ids;
    for (const Taken& job : jobs) ids.push_back(job.record.id);
    return ids;
  }
};

inline Imported import_folder(const std::string& path, Time now,
                              std::uint32_t most_job_bytes = limits::kDefaultJobBytes) {
  Imported imported;
  Result<BinlogSummary> summary =
      read_binlogs(path, most_job_bytes, now,
                   [&](const PutRecord& record) { imported.jobs.emplace_back(record); });
  if (summary) {
    imported.summary = std::move(summary).value();
  } else {
    imported.error = summary.error().text;
  }
  return imported;
}

}  // namespace xylem::test
