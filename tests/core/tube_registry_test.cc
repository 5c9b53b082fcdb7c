// TubeRegistry: how long the memory of a removed tube stays, while lists of tubes are walked. What
// it says of names and their order, the transcripts and the simulation see.

#include "core/tube_registry.h"

#include <doctest/doctest.h>

namespace xylem {
namespace {

TEST_CASE("a removed tube stays as long as a walk that began before") {
  TubeRegistry tubes;
  Tube& tube = tubes.find_or_make("a");
  const auto walk = tubes.begin_walk();
  tubes.remove(tube);
  tubes.forget_removed();
  CHECK(tube.gone);
  CHECK(*tube.name == "a");
  tubes.end_walk(walk);
  tubes.forget_removed();
  CHECK(tubes.removed_count() == 0);
}

TEST_CASE("walks that overlap without end keep only what they may come upon") {
  TubeRegistry tubes;
  auto walk = tubes.begin_walk();
  for (int i = 0; i < 100; ++i) {
    tubes.remove(tubes.find_or_make("a"));
    const auto next = tubes.begin_walk();
    tubes.end_walk(walk);
    walk = next;
    tubes.forget_removed();
    CHECK(tubes.removed_count() == 0);
  }
  tubes.remove(tubes.find_or_make("a"));
  tubes.forget_removed();
  CHECK(tubes.removed_count() == 1);
}

}  // namespace
}  // namespace xylem
