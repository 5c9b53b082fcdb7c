// Import of beanstalkd's write-ahead log: a directory of binlog.N, of version 7 (beanstalkd 1.5 and
// later) or 5 (1.4.6), as jobs. The directory is only read: nothing in it is made, changed or
// deleted.
//
// A job lives if its full record was read and no later record deleted it; its fields are those of
// its last record. The records have no checksums, so one that makes no sense ends its file, and it
// changes nothing: a job whose newer record is torn or damaged stays as its earlier record says,
// since a job that comes twice is better than one that is lost. A last record that was not finished
// is what a kill -9 leaves.
//
// Where beanstalkd itself would lose or change jobs at its own restart, this differs on purpose:
// jobs of the maximum size are taken, one job that cannot be taken costs no other, `buries` is not
// counted up, and a second full record of another size is simply the newer one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "xylem/core/ids.h"
#include "xylem/core/record.h"
#include "xylem/core/time.h"
#include "xylem/result.h"

namespace xylem {

struct BinlogCounts {
  std::uint64_t ready = 0;
  std::uint64_t delayed = 0;
  std::uint64_t buried = 0;

  bool operator==(const BinlogCounts&) const = default;
};

// Why the reading of a file ended.
enum class BinlogEnd : std::uint8_t {
  kComplete,
  kTorn,            // within its last record
  kDamaged,         // at a record that makes no sense, or that the disk did not give
  kUnknownVersion,  // before its first record
};

struct BinlogFile {
  std::string name;
  std::int32_t version = 0;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  // that were understood
  std::uint64_t jobs = 0;     // that were taken and have their body here
  BinlogEnd end = BinlogEnd::kComplete;
  std::uint64_t end_at = 0;  // the offset of what could not be read, or of the end
  std::string why;           // what is wrong there; empty if complete
};

// Numbers that no file has, between others that have one.
struct BinlogGap {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// Jobs that live there and were not taken, all for one reason.
struct BinlogSkipped {
  std::string why;
  std::uint64_t jobs = 0;
  std::vector<std::string> examples;  // the first few of them
};

struct BinlogSummary {
  std::vector<BinlogFile> files;  // by number
  std::vector<BinlogGap> gaps;
  BinlogCounts jobs;
  std::map<std::string, BinlogCounts> tubes;
  std::vector<BinlogSkipped> skipped;
  std::uint64_t ownerless = 0;       // short records of jobs whose full record is gone: normal
  std::uint64_t bodies_unended = 0;  // jobs taken whose body is not followed by CRLF
  JobId highest_id = 0;              // of any job there was, living or not; 0 if there was none
};

// Is given each job, in the order of their first records. States are ready (also what was
// reserved), delayed and buried; `bury_order` counts from 1; times are on the wall clock, in ticks
// since 1970, and what is delayed is due after `now_wall`. The views live during the call.
using ImportSink = std::function<void(const PutRecord&)>;

// Whether the lock of the directory is to be shared while it is read, or the process holds it
// already. Then its file is not looked at: that would end the process's own POSIX lock.
enum class BinlogLock : std::uint8_t { kShare, kIsOurs };

// Reads the binlogs of `directory`. Bodies longer than `most_job_bytes` are not taken. `now_wall`
// is the wall clock: delays went on running. Memory follows the number of living jobs, not their
// bodies, which are read again one by one for the sink.
//
// An error before the first call of `sink`: no such directory, no binlog in it, a file that cannot
// be opened, or a beanstalkd that uses it (its lock is tested, and held against others until this
// returns). An error after some calls: a body that could be read once cannot be read again.
[[nodiscard]] Result<BinlogSummary> read_binlogs(const std::string& directory,
                                                 std::uint32_t most_job_bytes, Time now_wall,
                                                 const ImportSink& sink,
                                                 BinlogLock lock = BinlogLock::kShare);

// The summary for an operator, a line each.
struct BinlogLine {
  bool warning = false;  // something may be missing
  std::string text;
};
[[nodiscard]] std::vector<BinlogLine> lines_of(const BinlogSummary& summary);

}  // namespace xylem
