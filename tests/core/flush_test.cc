// flush-tube and move-jobs by example: what the transcripts cannot see, because it is about slices,
// memory, records or the log. Histories are in tests/simulation.
#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "world.h"

namespace xylem {
namespace {

template <class R>
std::vector<R> records_of(const Output& out) {
  std::vector<R> found;
  for (const Record& record : out.records) {
    if (const auto* one = std::get_if<R>(&record)) found.push_back(*one);
  }
  return found;
}

TEST_CASE("a flush answers at once, and memory comes back by ticks") {
  World world(10);
  const ClientId client = world.client();
  world.engine.set_segment(1);
  for (int i = 0; i < 35; ++i) world.put(client, 0, i % 2 == 0 ? 0 : 100);
  const Reply* reply = world.say(client, FlushTube{.tube = "default", .state = {}});
  REQUIRE(reply != nullptr);
  CHECK(reply->word == ReplyWord::kFlushed);
  CHECK(reply->number == 35);
  CHECK(world.engine.stats().jobs == JobCounts{});
  CHECK(world.engine.live_in(1) == 35);
  CHECK(world.say(client, Peek{1})->word == ReplyWord::kNotFound);
  for (const std::uint64_t left : {25U, 15U, 5U, 0U}) {
    CHECK(world.engine.next_deadline() == Time::min());
    world.tick();
    CHECK(world.engine.live_in(1) == left);
  }
  CHECK(world.engine.live_bytes() == 0);
  CHECK(world.engine.next_deadline() > world.now);
}

TEST_CASE("a flush is one record, which names what is reserved") {
  World world;
  const ClientId client = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 4; ++i) world.put(client);
  world.say(client, ReserveJob{3});
  world.say(other, ReserveJob{1});
  world.say(client, FlushTube{.tube = "default", .state = {}});
  const auto flushes = records_of<FlushRecord>(world.out);
  REQUIRE(flushes.size() == 1);
  CHECK(world.out.records.size() == 1);
  CHECK(flushes[0].tube == "default");
  CHECK_FALSE(flushes[0].state);
  CHECK(flushes[0].at == world.now);
  REQUIRE(flushes[0].reserved.size() == 2);
  CHECK(flushes[0].reserved[0] == 1);
  CHECK(flushes[0].reserved[1] == 3);
  CHECK(flushes[0].reserved.contains(3));
  CHECK_FALSE(flushes[0].reserved.contains(2));
  CHECK_FALSE(flushes[0].reserved.contains(4));
  world.say(client, FlushTube{.tube = "default", .state = {}});
  CHECK(world.out.replies.front().number == 0);
  CHECK(world.out.records.empty());
}

TEST_CASE("a tube that is out of numbers for its flushes frees at once what it flushes") {
  Engine engine({.budget = 1, .recording = false});
  Output out;
  const Time now{Duration(17'000'000'000'000)};
  const ClientId client = engine.connect(now);
  const auto say = [&](const Command& command) {
    out.clear();
    engine.execute(client, command, now, out);
    return out.replies.empty() ? 0 : out.replies.front().number;
  };
  const auto put = [&] {
    say(PutLine{.pri = 0, .delay = 0, .ttr = 60, .body_bytes = 1});
    return say(PutBody{.body = "x"});
  };
  const auto tick = [&] { out.clear(), engine.tick(now, out); };
  const FlushTube flush{.tube = "default", .state = {}};
  const JobId held = put();
  say(ReserveJob{held});
  constexpr int kNumbers = 65'535;
  for (int i = 0; i < kNumbers; ++i) {
    put();
    REQUIRE(say(flush) == 1);
    REQUIRE(engine.is_freeing());
    tick();
  }
  for (int i = 0; i < 3; ++i) {
    const JobId first = put();
    put();
    CHECK(say(flush) == 2);
    CHECK_FALSE(engine.is_freeing());
    say(Peek{first});
    CHECK(out.replies.front().word == ReplyWord::kNotFound);
    say(Peek{held});
    CHECK(out.replies.front().word == ReplyWord::kFound);
    engine.check();
  }
  say(Release{held});
  CHECK(say(flush) == 1);
  engine.check();
}

TEST_CASE("the numbers of a tube's flushes begin anew when no job of it is left") {
  World world(1);
  const ClientId client = world.client();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) world.put(client);
    CHECK(world.say(client, FlushTube{.tube = "default", .state = {}})->number == 3);
    const JobId late = round == 1 ? world.put(client) : 0;
    while (world.engine.is_freeing()) world.tick();
    CHECK(world.engine.stats().jobs.ready == (round == 1 ? 1 : 0));
    if (round == 1) CHECK(world.say(client, Delete{late})->word == ReplyWord::kDeleted);
  }
}

TEST_CASE("with a state given, what is due is ready first, in slices") {
  World world(10);
  const ClientId client = world.client();
  for (int i = 0; i < 25; ++i) world.put(client, 0, 1);
  world.put(client, 0, 100);
  world.now += seconds(1);
  CHECK(world.say(client, FlushTube{.tube = "default", .state = JobState::kDelayed}) == nullptr);
  world.tick();  // promotes ten by itself, and as many for the flush
  REQUIRE(world.out.replies.size() == 1);
  CHECK(world.out.replies.front().number == 1);
  CHECK(world.engine.stats().jobs.ready == 25);
}

TEST_CASE("after a recovery the same jobs are gone, though their states had left no record") {
  World world;
  const ClientId client = world.client();
  Shadow shadow(world, client);
  Engine& copy = shadow.engine;
  for (const std::uint32_t delay : {0U, 0U, 1U, 1U, 100U}) shadow.put(0, delay);
  shadow.say(ReserveJob{1});
  world.pass(seconds(2));  // 3 and 4 become ready, without a record
  shadow.say(Reserve{});
  shadow.say(Reserve{});
  CHECK(world.job(client, 3).state == JobState::kReserved);
  shadow.say(FlushTube{.tube = "default", .state = JobState::kReady});
  CHECK(world.out.replies.front().number == 1);
  copy.check();
  Output out;
  const ClientId reader = copy.connect(world.now);
  const auto is_there = [&](JobId id) {
    out.clear();
    copy.execute(reader, Peek{id}, world.now, out);
    return out.replies.front().word == ReplyWord::kFound;
  };
  for (const JobId id : {1U, 2U, 3U, 5U}) CHECK(is_there(id));
  CHECK_FALSE(is_there(4));
}

TEST_CASE("a vanished tube's memory stays as long as its flushed jobs point to it") {
  World world(1);
  const ClientId client = world.client();
  world.say(client, Use{"t"});
  for (int i = 0; i < 5; ++i) world.put(client);
  world.say(client, Use{"default"});
  CHECK(world.say(client, FlushTube{.tube = "t", .state = {}})->number == 5);
  CHECK(world.say(client, StatsTube{"t"})->word == ReplyWord::kNotFound);
  world.say(client, Use{"t"});
  world.put(client);
  CHECK(world.tube(client, "t").jobs.ready == 1);
  CHECK(world.say(client, Peek{2})->word == ReplyWord::kNotFound);
  while (world.engine.next_deadline() <= world.now) world.tick();
  CHECK(world.tube(client, "t").jobs.ready == 1);
}

TEST_CASE("a list passes over flushed jobs that are not freed yet") {
  World world(3);
  const ClientId client = world.client();
  for (int i = 0; i < 10; ++i) world.put(client);
  world.say(client, FlushTube{.tube = "default", .state = {}});
  world.put(client);
  world.say(client, ListJobs{.tube = "default", .state = {}, .after = 0, .count = 1});
  CHECK(std::get<JobList>(world.out.details).jobs.size() == 1);
}

TEST_CASE("move-jobs goes on in slices, keeps both tubes, and answers once") {
  World world(10);
  const ClientId client = world.client();
  const ClientId other = world.client();
  world.say(client, Use{"a"});
  for (int i = 0; i < 25; ++i) world.put(client);
  world.say(client, Use{"default"});
  const MoveJobs move{.from = "a", .to = "b", .state = JobState::kReady, .count = 100};
  CHECK(world.say(client, move) == nullptr);
  CHECK(records_of<MoveRecord>(world.out).size() == 10);
  CHECK(world.say(other, FlushTube{.tube = "b", .state = {}})->number == 10);
  CHECK(world.say(other, FlushTube{.tube = "a", .state = {}})->number == 15);
  CHECK(world.engine.stats().current_tubes == 3);
  const Reply* reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->word == ReplyWord::kMoved);
  CHECK(reply->number == 10);
  CHECK(world.engine.stats().current_tubes == 1);
}

TEST_CASE("a client that leaves in the middle of move-jobs keeps no tube") {
  World world(1);
  const ClientId client = world.client();
  world.say(client, Use{"a"});
  for (int i = 0; i < 3; ++i) world.put(client);
  const MoveJobs move{.from = "a", .to = "b", .state = JobState::kReady, .count = 100};
  CHECK(world.say(client, move) == nullptr);
  world.leave(client);
  const ClientId other = world.client();
  CHECK(world.tube(other, "a").jobs.ready == 2);
  CHECK(world.tube(other, "b").jobs.ready == 1);
}

TEST_CASE("move-jobs and flush-tube when the log is full or fails") {
  World world;
  const ClientId client = world.client();
  world.put(client);
  world.put(client);
  const MoveJobs move{.from = "default", .to = "b", .state = JobState::kReady, .count = 1};
  const FlushTube flush{.tube = "default", .state = {}};
  world.engine.set_log_state(LogState::kFull);
  CHECK(world.say(client, move)->word == ReplyWord::kOutOfMemory);
  CHECK(world.engine.stats().current_tubes == 1);
  world.engine.set_log_state(LogState::kFailed);
  CHECK(world.say(client, move)->word == ReplyWord::kInternalError);
  CHECK(world.say(client, flush)->word == ReplyWord::kInternalError);
  CHECK(world.say(client, Reprioritize{1, 5})->word == ReplyWord::kInternalError);
  CHECK(world.say(client, FlushTube{.tube = "default", .state = JobState::kBuried})->number == 0);
  CHECK(world.engine.stats().jobs.ready == 2);
}

}  // namespace
}  // namespace xylem
