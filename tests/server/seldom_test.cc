// Seldom: the first time is told at once, a flood once in ten seconds, with the count of what it
// was, and no event goes uncounted.

#include "server/seldom.h"

#include <doctest/doctest.h>

namespace xylem {
namespace {

TEST_CASE("what happens again and again is told at most every ten seconds, with its count") {
  Seldom seldom;
  const Time start{seconds(1'000)};
  CHECK(seldom.happened(start) == 1);
  for (int i = 0; i < 50; ++i) CHECK(seldom.happened(start + seconds(9)) == 0);
  CHECK(seldom.happened(start + seconds(10)) == 51);
  CHECK(seldom.happened(start + seconds(11)) == 0);
  CHECK(seldom.happened(start + seconds(100)) == 2);
}

}  // namespace
}  // namespace xylem
