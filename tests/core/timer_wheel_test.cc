// The timer wheel: examples, its costs, and the wheel beside its naive twin. Most examples have
// slots from the first element on; the engine's wheel begins as a heap.
#include "xylem/core/timer_wheel.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "core/timer_wheel_twin.h"

namespace xylem::test {
namespace {

constexpr std::uint32_t kPlenty = 1'000'000;

// Elements with an address, ids in the order of their making.
struct Timers {
  Timer& at(std::int64_t ticks) {
    Timer& timer = made.emplace_back();
    timer.deadline_at = Time(Duration(ticks));
    timer.id = static_cast<std::uint32_t>(made.size());
    return timer;
  }

  Timer& schedule(std::int64_t ticks) {
    Timer& timer = at(ticks);
    wheel.schedule(timer, now);
    return timer;
  }

  std::deque<Timer> made;
  Wheel wheel;
  Time now{};
};

Timer* earliest(Wheel& wheel, std::uint32_t moves = kPlenty) { return wheel.earliest(moves); }

Timer* earliest_due(Wheel& wheel, std::int64_t now, std::uint32_t moves = kPlenty) {
  return wheel.earliest_due(Time(Duration(now)), moves);
}

TEST_CASE("timer wheel: an empty one has nothing and never wakes") {
  Wheel wheel;
  CHECK(wheel.empty());
  CHECK(wheel.next_deadline() == kNever);
  CHECK(earliest(wheel) == nullptr);
  CHECK(earliest_due(wheel, 1'000) == nullptr);
}

TEST_CASE("timer wheel: hands out by deadline, then id, whatever the levels") {
  Timers timers;
  const std::vector<std::int64_t> deadlines = {5'000'000, 70, 3, 70, std::int64_t{1} << 45, 64, 70};
  for (const std::int64_t ticks : deadlines) timers.schedule(ticks);
  std::vector<std::uint32_t> ids;
  while (Timer* timer = earliest(timers.wheel)) {
    ids.push_back(timer->id);
    timers.wheel.cancel(*timer);
    timers.wheel.check();
  }
  CHECK(ids == std::vector<std::uint32_t>{3, 6, 2, 4, 7, 1, 5});
}

TEST_CASE("timer wheel: what is due at this tick is due, what is due at the next is not") {
  Timers timers;
  Timer& timer = timers.schedule(5'000);
  CHECK(earliest_due(timers.wheel, 4'999) == nullptr);
  CHECK(earliest_due(timers.wheel, 5'000) == &timer);
}

TEST_CASE("timer wheel: asking for what is due leaves the base at or before now") {
  Timers timers;
  timers.schedule(5'000);
  timers.schedule(5'001);
  CHECK(earliest_due(timers.wheel, 4'999) == nullptr);
  CHECK(timers.wheel.base() <= Time(Duration(4'999)));
  CHECK(earliest(timers.wheel)->deadline_at == Time(Duration(5'000)));
  CHECK(timers.wheel.base() == Time(Duration(5'000)));
}

TEST_CASE("timer wheel: after the base ran ahead, what is scheduled before it comes first") {
  Timers timers;
  Timer& late = timers.schedule(36'000'000);
  CHECK(earliest(timers.wheel) == &late);
  Timer& soon = timers.schedule(10'000);
  Timer& sooner = timers.schedule(9'000);
  CHECK(earliest(timers.wheel) == &sooner);
  CHECK(timers.wheel.next_deadline() == sooner.deadline_at);
  timers.wheel.cancel(sooner);
  CHECK(earliest_due(timers.wheel, 10'000) == &soon);
}

TEST_CASE("timer wheel: next_deadline is early by less than a slot, and exact for one alone") {
  Timers timers;
  Timer& first = timers.schedule(64 * 64 * 3 + 100);
  CHECK(timers.wheel.next_deadline() == first.deadline_at);
  timers.schedule(64 * 64 * 3 + 200);
  CHECK(timers.wheel.next_deadline() == Time(Duration(64 * 64 * 3)));
  CHECK(earliest(timers.wheel) == &first);
  CHECK(timers.wheel.next_deadline() == first.deadline_at);
}

TEST_CASE("timer wheel: an idle one starts again at now, so that a far time is no far level") {
  Timers timers;
  timers.now = Time(Duration(std::int64_t{1} << 44));
  timers.schedule((std::int64_t{1} << 44) + 5);
  CHECK(timers.wheel.base() == timers.now);
}

TEST_CASE("timer wheel: a slot is opened in slices, and may be changed in between") {
  Timers timers;
  std::vector<Timer*> slot;
  for (std::int64_t i = 0; i < 40; ++i) slot.push_back(&timers.schedule(4'096 + i));
  CHECK(earliest(timers.wheel, 10) == nullptr);
  CHECK(timers.wheel.next_deadline() == slot[0]->deadline_at);
  timers.wheel.cancel(*slot[0]);   // moved, and at the base
  timers.wheel.cancel(*slot[5]);   // moved
  timers.wheel.cancel(*slot[10]);  // the next to be moved
  timers.wheel.cancel(*slot[20]);  // in the midst of the rest
  timers.wheel.cancel(*slot[39]);  // the last of the rest
  timers.wheel.check();
  Timer& base = timers.schedule(4'096);
  Timer& later = timers.schedule(4'096 + 64);
  CHECK(earliest(timers.wheel, 26) == nullptr);
  CHECK(earliest(timers.wheel, 1) == &base);
  timers.wheel.cancel(base);
  CHECK(earliest(timers.wheel) == slot[1]);
  for (const std::uint32_t i : {1U, 2U, 3U, 4U}) timers.wheel.cancel(*slot[i]);
  CHECK(earliest(timers.wheel) == slot[6]);
  timers.wheel.check();
  CHECK(timers.wheel.size() == 32);
  CHECK(later.deadline_at > slot[38]->deadline_at);
}

TEST_CASE("timer wheel: a tick of many elements goes to the heap in slices, found where they are") {
  Timers timers;
  std::vector<Timer*> tick;
  for (int i = 0; i < 10; ++i) tick.push_back(&timers.schedule(7));
  CHECK(earliest_due(timers.wheel, 7, 4) == nullptr);
  for (const std::uint32_t i : {9U, 0U, 4U, 6U}) {
    timers.wheel.cancel(*tick[i]);
    timers.wheel.check();
  }
  CHECK(earliest_due(timers.wheel, 7, 4) == tick[1]);
  CHECK(timers.wheel.size() == 6);
}

TEST_CASE("timer wheel: before the base the first is known while a slot is half open") {
  Timers timers;
  for (int i = 0; i < 10; ++i) timers.schedule(5'000);
  CHECK(earliest(timers.wheel, 4) == nullptr);
  Timer& soon = timers.schedule(100);
  CHECK(earliest(timers.wheel, 0) == &soon);
  CHECK(earliest_due(timers.wheel, 99, 0) == nullptr);
  CHECK(earliest_due(timers.wheel, 100, 0) == &soon);
}

TEST_CASE("timer wheel: an element alone comes to the heap in one move") {
  Timers timers;
  Timer& timer = timers.schedule(std::int64_t{1} << 45);
  CHECK(earliest(timers.wheel, 1) == &timer);
}

TEST_CASE("timer wheel: for_each visits heap, half-open slot and slots") {
  Timers timers;
  for (const std::int64_t ticks : {5'000, 5'001, 5'002, 1 << 20}) timers.schedule(ticks);
  CHECK(earliest(timers.wheel, 1) == nullptr);
  timers.schedule(100);
  std::uint32_t sum = 0;
  timers.wheel.for_each([&](const Timer& timer) { sum += timer.id; });
  CHECK(sum == 15);
}

// Bytes of a run: weights, of which half are 0 in the long run, then noise.
std::vector<std::uint8_t> make_bytes(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& value : bytes) value = static_cast<std::uint8_t>(random());
  for (std::size_t i = 0; i < 13; ++i) {
    if (random() % 2 == 0) bytes[i] = 0;
  }
  bytes[0] = static_cast<std::uint8_t>(64 + random() % 192);  // something is scheduled
  return bytes;
}

TEST_CASE("timer wheel: does as its naive twin does") {
  std::uint64_t operations = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    const bool short_run = seed % 8 != 0;
    const std::vector<std::uint8_t> bytes = make_bytes(seed, short_run ? 2'000 : 50'000);
    TimerWheelTwin<Wheel> twin(bytes);
    twin.run(short_run ? 1 : 500);
    operations += twin.operations();
    TimerWheelTwin<EngineWheel>(bytes).run(short_run ? 1 : 500);
  }
  CHECK(operations > 400'000);
}

TEST_CASE("timer wheel: few elements need no slots, and many get them") {
  EngineWheel wheel;
  std::vector<Timer> timers(40);
  std::uint32_t id = 0;
  for (Timer& timer : timers) {
    timer.id = ++id;
    timer.deadline_at = Time(Duration(1'000 + id * 7));
    wheel.schedule(timer, Time(Duration(0)));
    CHECK((wheel.base() == kNever) == (id <= 32));
    wheel.check();
  }
  for (Timer& timer : timers) {
    std::uint32_t moves = 1'000;
    CHECK(wheel.earliest_due(Time(Duration(2'000)), moves) == &timer);
    wheel.cancel(timer);
  }
  wheel.schedule(timers.front(), Time(Duration(0)));
  CHECK(wheel.base() == kNever);
}

}  // namespace
}  // namespace xylem::test
