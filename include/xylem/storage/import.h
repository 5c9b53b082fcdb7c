// Import: the jobs of a beanstalkd's log (binlog.h) as the first records of a log of our own. While
// it runs, and after one that was cut short, the directory holds kUnfinishedImport, and no server
// starts on it; the next import begins anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xylem/core/time.h"
#include "xylem/result.h"
#include "xylem/storage/binlog.h"
#include "xylem/storage/file.h"

namespace xylem {

inline constexpr std::string_view kUnfinishedImport = "import.unfinished";

// `into` must hold no log, but for what an unfinished import left; `now` is the wall clock. On an
// error what was made is removed again, if the disk allows. Blocks; memory: the live jobs.
Result<BinlogSummary> import_binlogs(const std::string& from, Directory& into,
                                     std::uint64_t segment_bytes, std::uint32_t most_job_bytes,
                                     Time now);

}  // namespace xylem
