// SegmentScan: which puts a segment holds, for compaction. A disk task: it reads the whole file,
// which may be cut meanwhile behind its last batch, and keeps the ids only. What a scan cannot read
// it says; the jobs themselves are in memory and lose nothing by it.
#pragma once

#include <string>
#include <vector>

#include "xylem/core/ids.h"
#include "xylem/result.h"
#include "xylem/storage/file.h"
#include "xylem/storage/segment.h"

namespace xylem {

class SegmentScan {
 public:
  SegmentScan(Directory& directory, SegmentNumber number)
      : directory_(directory), number_(number) {}

  // Blocks; on any thread.
  void run();

  std::vector<JobId> jobs;
  std::string problem;  // why there may be more; empty: there are none

 private:
  Result<Done> scan();

  Directory& directory_;
  SegmentNumber number_;
};

}  // namespace xylem
