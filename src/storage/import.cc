// The records go through the same WriteAheadLog as a server's, with every task run in place. Each
// job is one put record; an id note behind them keeps the highest id. The marker file goes last, so
// that a half import is never taken for a log.
#include "xylem/storage/import.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "xylem/storage/log.h"
#include "xylem/storage/recovery.h"

namespace xylem {
namespace {

// As much is gathered before it is written.
constexpr std::uint64_t kWriteBytes = 4'194'304;

class Nobody final : public RecordSink {
 public:
  void take(const Record&, SegmentNumber, Time) override {}
  void progress(std::uint64_t, std::uint64_t) override {}
};

// Removes the segments of an unfinished import.
Result<Done> remove_segments(Directory& directory) {
  auto names = directory.list();
  if (!names) return names.error();
  for (const std::string& name : names.value()) {
    if (!segment_number(name)) continue;
    if (auto removed = directory.remove(name); !removed) return removed;
  }
  return directory.sync();
}

// The directory is ours to fill, and says so.
Result<Done> begin(Directory& into) {
  auto unfinished = into.has(kUnfinishedImport);
  if (!unfinished) return unfinished.error();
  if (unfinished.value()) return remove_segments(into);
  Nobody nobody;
  auto found = recover(into, nobody, true);
  if (!found) return found.error();
  if (!found.value().segments.empty()) {
    return Error{
        fmt::format("{} holds a log already; an import needs an empty one", into.path_of(""))};
  }
  auto marker = into.create(kUnfinishedImport);
  if (!marker) return marker.error();
  if (marker.value() == nullptr) return Error{fmt::format("{}: no space", into.path_of(""))};
  return into.sync();
}

class Writer {
 public:
  Writer(WriteAheadLog& log, Time now) : log_(log), now_(now) {}

  // What does not fit any more is only counted out: finish() tells.
  void take(const PutRecord& put) {
    if (log_.has_failed() || log_.lacks_room()) return;
    last_id_ = std::max(last_id_, put.id);
    last_bury_order_ = std::max(last_bury_order_, put.bury_order);
    log_.append(put);
    if (log_.waiting_bytes() >= kWriteBytes) write(false);
  }
  Result<Done> finish(JobId highest_id) {
    last_id_ = std::max(last_id_, highest_id);
    log_.append(IdNote{last_id_});
    write(true);
    if (!log_.has_failed() && log_.durable() < log_.newest()) log_.fail(Error{"the disk is full"});
    if (log_.has_failed()) return log_.failure();
    return log_.close();
  }

 private:
  // Batches wait for a spare segment, so chores are done until nothing is left to do.
  void write(bool sync) {
    const LogMoment moment{now_, now_, last_id_, last_bury_order_};
    bool went_on = true;
    while (went_on) {
      went_on = false;
      if (auto write = log_.begin_write(moment, sync)) {
        write->run();
        log_.finish(std::move(write));
        went_on = true;
      }
      if (auto chore = log_.begin_chore()) {
        chore->run();
        log_.finish(std::move(chore));
        went_on = true;
      }
    }
  }

  WriteAheadLog& log_;
  Time now_;
  JobId last_id_ = 0;
  std::uint64_t last_bury_order_ = 0;
};

Result<BinlogSummary> fill(const std::string& from, Directory& into, std::uint64_t segment_bytes,
                           std::uint32_t most_job_bytes, Time now) {
  auto log = WriteAheadLog::open(into, segment_bytes, Recovered{});
  if (!log) return log.error();
  Writer writer(*log.value(), now);
  auto summary = read_binlogs(from, most_job_bytes, now,
                              [&writer](const PutRecord& put) { writer.take(put); });
  if (!summary) return summary;
  if (auto finished = writer.finish(summary.value().highest_id); !finished) {
    return finished.error();
  }
  return summary;
}

}  // namespace

Result<BinlogSummary> import_binlogs(const std::string& from, Directory& into,
                                     std::uint64_t segment_bytes, std::uint32_t most_job_bytes,
                                     Time now) {
  if (auto begun = begin(into); !begun) return begun.error();
  auto summary = fill(from, into, segment_bytes, most_job_bytes, now);
  if (!summary) {
    if (auto removed = remove_segments(into); !removed) return summary;
  }
  auto removed = into.remove(kUnfinishedImport);
  auto synced = removed ? into.sync() : removed;
  if (summary && !synced) return synced.error();
  return summary;
}

}  // namespace xylem
