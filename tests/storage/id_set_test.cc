// IdSet beside std::set: whatever was added is found, in whatever order it is asked for, and
// nothing else.
#include "storage/id_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

namespace xylem::test {
namespace {

TEST_CASE("an empty set contains nothing") {
  IdSet ids;
  ids.finish();
  CHECK_FALSE(ids.contains(1));
  CHECK_FALSE(ids.contains(0));
}

TEST_CASE("ids are found in any order") {
  std::minstd_rand random(3);
  for (const JobId range : {JobId{10}, JobId{300}, JobId{100'000}}) {
    IdSet ids;
    std::set<JobId> naive;
    for (int i = 0; i < 200; ++i) {
      const JobId id = 1 + random() % range;
      ids.add(id);  // some of them twice
      naive.insert(id);
    }
    ids.finish();
    for (JobId id = 0; id <= std::min<JobId>(range, 1'000) + 1; ++id) {
      CHECK(ids.contains(id) == naive.contains(id));
    }
    for (int i = 0; i < 1'000; ++i) {
      const JobId id = random() % (range + 2);
      CHECK(ids.contains(id) == naive.contains(id));
    }
    CHECK_FALSE(ids.contains(std::numeric_limits<JobId>::max()));
    for (const JobId id : naive) CHECK(ids.contains(id));
  }
}

}  // namespace
}  // namespace xylem::test
