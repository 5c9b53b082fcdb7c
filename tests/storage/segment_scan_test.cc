// What the compactor finds in a segment: the ids of puts. It reads while the log may cut off the
// unused end of the same file, which then ends there.
#include "xylem/storage/segment_scan.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "storage/segment_reader.h"
#include "support/log_builder.h"

namespace xylem::test {
namespace {

PutRecord put(JobId id) {
  PutRecord put;
  put.id = id;
  put.tube = "t";
  put.ttr = 1;
  return put;
}

TEST_CASE("a scan finds the puts of a segment") {
  LogBuilder log;
  log.segment(1).batch({put(1), DeleteRecord{1}, put(2)}).batch({put(3)}).zeros(100);
  const auto disk = log.disk();
  SegmentScan scan(*disk, 1);
  scan.run();
  CHECK(scan.jobs == std::vector<JobId>{1, 2, 3});
  CHECK(scan.problem.empty());
}

TEST_CASE("a segment that is cut while it is read ends there") {
  constexpr std::size_t kZeros = 4'000'000;  // more than is read at once
  LogBuilder log;
  log.segment(1).batch({put(1)}).zeros(kZeros);
  const auto disk = log.disk();
  auto file = disk->open(segment_name(1));
  REQUIRE(file);
  SegmentReader reader(*file.value());
  auto start = reader.start();
  REQUIRE(start);
  const std::uint64_t end = start.value().file_bytes - kZeros;
  REQUIRE(disk->open(segment_name(1)).value()->truncate(end));
  for (const std::size_t item :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}}) {  // Batch, Head, End
    auto next = reader.next();
    REQUIRE(next);
    CHECK(next.value().index() == item);
  }
}

}  // namespace
}  // namespace xylem::test
