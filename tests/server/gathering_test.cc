// Gathering: the moments at which a sync may begin, told in numbers of records and nanoseconds; no
// disk and no clock. Who was answered is waited for, but never for long, and nobody waits for
// himself.
#include "server/gathering.h"

#include <doctest/doctest.h>

namespace xylem {
namespace {

constexpr std::uint64_t kTook = 200'000;  // ns, each sync
constexpr std::uint64_t kEnd = 1'000'000'000;

void record(Gathering& gathering, int count) {
  for (int i = 0; i < count; ++i) gathering.record();
}

// A sync of so many records, while so many others came.
Gathering after_sync(int taken, int waiting, std::uint64_t took = kTook) {
  Gathering gathering;
  record(gathering, taken);
  gathering.sync_began();
  record(gathering, waiting);
  gathering.sync_ended(kEnd, took);
  return gathering;
}

TEST_CASE("nothing is waited for before the first sync") {
  Gathering gathering;
  gathering.record();
  CHECK_FALSE(gathering.goes_on(kEnd));
}

TEST_CASE("a client alone does not wait") {
  Gathering gathering = after_sync(1, 0);
  gathering.record();
  CHECK_FALSE(gathering.goes_on(kEnd));
}

TEST_CASE("who was answered is waited for, beside those who waited already") {
  Gathering gathering = after_sync(8, 8);
  record(gathering, 7);
  CHECK(gathering.goes_on(kEnd));
  gathering.record();
  CHECK_FALSE(gathering.goes_on(kEnd));
  gathering.sync_began();
  gathering.sync_ended(kEnd, kTook);
  record(gathering, 15);
  CHECK(gathering.goes_on(kEnd));
  gathering.record();
  CHECK_FALSE(gathering.goes_on(kEnd));
}

TEST_CASE("who does not come again is waited for during half a sync") {
  const Gathering gathering = after_sync(8, 8);
  CHECK(gathering.goes_on(kEnd + kTook / 2 - 1));
  CHECK_FALSE(gathering.goes_on(kEnd + kTook / 2));
}

TEST_CASE("a slow disk is not made slower by more than a millisecond") {
  const Gathering gathering = after_sync(8, 8, 200'000'000);
  CHECK(gathering.goes_on(kEnd + 999'999));
  CHECK_FALSE(gathering.goes_on(kEnd + 1'000'000));
}

}  // namespace
}  // namespace xylem
