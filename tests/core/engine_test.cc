// The engine by example: what the transcripts cannot see, because it is about budgets, slices,
// records or the exact moment of a timer. What a client sees is in tests/transcripts, histories are
// in tests/simulation.
#include "xylem/core/engine.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "world.h"

namespace xylem {
namespace {

TEST_CASE("a put wakes who waits longest") {
  World world;
  const ClientId first = world.client();
  const ClientId second = world.client();
  const ClientId producer = world.client();
  CHECK(world.say(first, Reserve{}) == nullptr);
  CHECK(world.say(second, Reserve{}) == nullptr);
  world.put(producer);
  REQUIRE(world.out.replies.size() == 2);
  CHECK(world.out.replies[0].word == ReplyWord::kInserted);
  CHECK(world.out.replies[1].client == first);
  CHECK(world.out.replies[1].text == "x");
}

TEST_CASE("a ttr that runs out after DEADLINE_SOON and touch is not forgotten") {
  World world;
  const ClientId worker = world.client();
  const JobId id = world.put(worker, 0, 0, 3);
  world.say(worker, Reserve{});
  world.pass(std::chrono::milliseconds(1600));
  CHECK(world.say(worker, ReserveWithTimeout{1}) == nullptr);
  const auto heard = world.pass(std::chrono::milliseconds(400));
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].word == ReplyWord::kDeadlineSoon);
  CHECK(world.say(worker, Touch{id})->word == ReplyWord::kTouched);
  world.pass(std::chrono::milliseconds(2999));
  CHECK(world.job(worker, id).state == JobState::kReserved);
  world.pass(std::chrono::milliseconds(1));
  CHECK(world.job(worker, id).state == JobState::kReady);
  CHECK(world.job(worker, id).timeouts == 1);
}

TEST_CASE("after a stall the owner that waits gets its expired job, not DEADLINE_SOON") {
  World world;
  const ClientId worker = world.client();
  const JobId id = world.put(worker, 0, 0, 5);
  world.say(worker, Reserve{});
  world.say(worker, Reserve{});
  world.now += seconds(20);
  const Reply* reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->word == ReplyWord::kReserved);
  CHECK(reply->number == id);
  CHECK(world.out.replies.size() == 1);
}

TEST_CASE("a kick of many goes on in slices and answers once") {
  World world(10);
  const ClientId one = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 35; ++i) world.put(one, 0, 1000);
  CHECK(world.say(one, Kick{30}) == nullptr);
  CHECK(world.tube(other).jobs.ready == 10);
  CHECK(world.engine.next_deadline() <= world.now);
  // Of what was fixed at the start, somebody else takes one: it is not replaced.
  CHECK(world.tick() == nullptr);
  for (JobId id = 21; id <= 26; ++id) world.say(other, Delete{id});
  const Reply* reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->word == ReplyWord::kKickedCount);
  CHECK(reply->number == 29);
}

TEST_CASE("a kick that loses its client leaves the rest undone") {
  World world(10);
  const ClientId one = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 35; ++i) world.put(one, 0, 1000);
  world.say(one, Kick{35});
  world.leave(one);
  CHECK(world.engine.next_deadline() > world.now);
  CHECK(world.tube(other).jobs.ready == 10);
}

TEST_CASE("the jobs of a closed client come back in slices") {
  World world(10);
  const ClientId worker = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 25; ++i) world.put(other);
  for (int i = 0; i < 25; ++i) world.say(worker, Reserve{});
  world.leave(worker);  // its watched tube counts too
  CHECK(world.tube(other).jobs.reserved == 16);
  CHECK(world.job(other, 20).state == JobState::kReserved);
  CHECK(world.say(other, Delete{20})->word == ReplyWord::kNotFound);
  CHECK(world.engine.stats().current_connections == 1);
  world.tick();
  world.tick();
  CHECK(world.tube(other).jobs.ready == 25);
}

TEST_CASE("no ttr runs out while a closed client's jobs wait for their slice") {
  World world(1);
  const ClientId worker = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 3; ++i) world.put(other, 0, 0, 5);
  for (int i = 0; i < 3; ++i) world.say(worker, Reserve{});
  world.leave(worker);
  world.now += seconds(10);
  world.tick();
  world.tick();
  CHECK(world.tube(other).jobs.reserved == 1);
  world.tick();
  for (const JobId id : {JobId{1}, JobId{2}, JobId{3}}) CHECK(world.job(other, id).timeouts == 0);
  CHECK(world.engine.next_deadline() > world.now);
}

TEST_CASE("list-tubes in slices names what is there all the time once, in order") {
  World world(2);
  const ClientId one = world.client();
  const ClientId other = world.client();
  for (const char* name : {"a", "b", "c", "d", "e"}) world.say(other, Watch{name});
  std::string names;
  const auto hear = [&](const Reply* reply, bool goes_on) {
    REQUIRE(reply != nullptr);
    CHECK(reply->goes_on == goes_on);
    names += std::get<TubeList>(world.out.details).names;
  };
  hear(world.say(one, ListTubes{}), true);
  world.say(other, Ignore{"c"});
  world.say(other, Watch{"f"});
  hear(world.tick(), true);
  hear(world.tick(), false);
  CHECK(names == "default\na\nb\nd\ne\n");
}

TEST_CASE("a client that leaves lets go of its tubes, and then of its jobs, in slices") {
  World world(10);
  const ClientId watcher = world.client();
  const ClientId other = world.client();
  for (int i = 0; i < 24; ++i) world.say(watcher, Watch{"t" + std::to_string(i)});
  for (int i = 0; i < 7; ++i) world.put(other);
  for (int i = 0; i < 7; ++i) world.say(watcher, Reserve{});
  world.leave(watcher);
  CHECK(world.engine.stats().current_connections == 1);
  CHECK(world.engine.stats().current_tubes == 16);  // "default" was let go of too
  world.tick();
  CHECK(world.engine.stats().current_tubes == 6);
  CHECK(world.engine.stats().jobs.reserved == 7);
  world.tick();
  CHECK(world.engine.stats().current_tubes == 1);
  CHECK(world.engine.stats().jobs.reserved == 2);
  world.tick();
  CHECK(world.engine.stats().jobs.reserved == 0);
  CHECK(world.engine.next_deadline() > world.now);
}

TEST_CASE("a long list of watched tubes comes in parts, in its order") {
  World world(10);
  const ClientId client = world.client();
  std::string expected = "default\n";
  for (int i = 0; i < 24; ++i) {
    const std::string name = "t" + std::to_string(i);
    world.say(client, Watch{name});
    expected += name + "\n";
  }
  std::string names;
  const Reply* reply = world.say(client, ListTubesWatched{});
  for (int part = 1; part <= 3; ++part) {
    REQUIRE(reply != nullptr);
    CHECK(reply->goes_on == (part < 3));
    const auto& list = std::get<TubeList>(world.out.details);
    CHECK(list.watched);
    names += list.names;
    reply = world.tick();
  }
  CHECK(reply == nullptr);
  CHECK(names == expected);
}

TEST_CASE("a budget leaves waiters over, and a new reserve queues behind them") {
  World world(1);
  const ClientId first = world.client();
  const ClientId second = world.client();
  const ClientId third = world.client();
  const ClientId boss = world.client();
  world.say(boss, PauseTube{"default", 100});
  for (int i = 0; i < 3; ++i) world.put(boss);
  world.say(first, Reserve{});
  world.say(second, Reserve{});
  world.say(boss, PauseTube{"default", 0});
  REQUIRE(world.out.replies.size() == 2);
  CHECK(world.out.replies[1].client == first);
  const Reply* reply = world.say(third, ReserveWithTimeout{0});
  REQUIRE(reply != nullptr);
  CHECK(reply->client == second);
  reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->client == third);
  CHECK(reply->word == ReplyWord::kReserved);
}

TEST_CASE("time-outs are told only up to the first deadline that is left over") {
  World world(1);
  const ClientId producer = world.client();
  const ClientId worker = world.client();
  world.say(worker, Watch{"empty"});
  world.say(worker, Ignore{"default"});
  world.put(producer, 0, 1);
  world.put(producer, 0, 2);
  world.say(worker, ReserveWithTimeout{3});
  world.now += seconds(5);
  CHECK(world.tick() == nullptr);
  const Reply* reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->word == ReplyWord::kTimedOut);
}

TEST_CASE("an output says how many tubes a call went through") {
  World world;
  const ClientId one = world.client();
  for (int i = 0; i < 99; ++i) world.say(one, Watch{"tube-" + std::to_string(i)});
  CHECK(world.out.steps == 0);
  world.say(one, ReserveWithTimeout{0});
  CHECK(world.out.steps == 100);
  world.put(one);
  CHECK(world.out.steps == 0);
  world.say(one, ListTubesWatched{});
  CHECK(world.out.steps == 100);
  world.leave(one);
  CHECK(world.out.steps == 100);
}

TEST_CASE("a live job that is logged again replaces itself") {
  Engine copy({.budget = limits::kSlice, .recording = false});
  const Time now{Duration(17'000'000'000'000)};
  copy.apply(PutRecord{.id = 7, .tube = "t", .pri = 1, .ttr = 60, .body = "first"}, now, 1);
  copy.apply(PutRecord{.id = 7, .tube = "t", .pri = 2, .ttr = 60, .kicks = 3, .body = "again"}, now,
             1);
  copy.check();
  Output out;
  const ClientId reader = copy.connect(now);
  copy.execute(reader, Peek{7}, now, out);
  CHECK(out.replies.front().text == "again");
}

TEST_CASE("records give the jobs back, reserved ones as ready") {
  World world;
  const ClientId client = world.client();
  Shadow shadow(world, client);
  Engine& copy = shadow.engine;
  shadow.say(Use{"t"});
  shadow.say(Watch{"t"});
  for (const std::uint32_t delay : {0U, 0U, 0U, 100U, 0U}) shadow.put(5, delay);
  for (int i = 0; i < 4; ++i) shadow.say(Reserve{});
  shadow.say(Bury{3, 7});
  shadow.say(Bury{1, 7});
  shadow.say(Release{2, 9, 50});
  shadow.say(ReserveJob{3});
  shadow.say(KickJob{1});
  shadow.say(Delete{5});
  shadow.say(PauseTube{"t", 30});

  copy.check();
  Output out;
  const ClientId reader = copy.connect(world.now);
  const auto job = [&](JobId id) {
    out.clear();
    copy.execute(reader, StatsJob{id}, world.now, out);
    return std::get<JobStats>(out.details);
  };
  CHECK(job(1).state == JobState::kReady);
  CHECK(job(1).kicks == 1);
  CHECK(job(2).state == JobState::kDelayed);
  CHECK(job(2).pri == 9);
  CHECK(job(2).time_left == 49);
  CHECK(job(3).state == JobState::kReady);
  CHECK(job(3).reserves == 2);
  CHECK(job(4).state == JobState::kDelayed);
  CHECK(copy.stats().jobs ==
        JobCounts{.urgent = 2, .ready = 2, .reserved = 0, .delayed = 2, .buried = 0});
  out.clear();
  copy.execute(reader, StatsTube{"t"}, world.now, out);
  CHECK(std::get<TubeStats>(out.details).pause_time_left == 29);
  copy.tick(world.now + seconds(31), out);
  copy.check();
}

TEST_CASE("a recovered pause that a client ends keeps its tube no longer") {
  World world;
  for (const char* name : {"a", "b"})
    world.engine.apply(PauseRecord{name, 9, world.now + seconds(9)}, world.now, 1);
  const ClientId client = world.client();
  CHECK(world.engine.stats().current_tubes == 3);
  world.say(client, PauseTube{"a", 0});
  CHECK(world.say(client, StatsTube{"a"})->word == ReplyWord::kNotFound);
  world.say(client, Use{"b"});
  world.say(client, PauseTube{"b", 0});
  world.say(client, Use{"default"});
  CHECK(world.engine.stats().current_tubes == 1);
}

TEST_CASE("a priority that a record sets moves the job in all that counts and orders by it") {
  World world;
  Engine copy({.budget = limits::kSlice, .recording = false});
  const ClientId client = world.client();
  const auto copy_records = [&] {
    for (const Record& record : world.out.records) copy.apply(record, world.now, 1);
    copy.check();
  };
  for (int i = 0; i < 2; ++i) world.put(client, 2000), copy_records();
  for (int i = 0; i < 2; ++i) world.say(client, Reserve{}), copy_records();
  world.say(client, Bury{1, 5});
  copy_records();
  world.say(client, Release{2, 5, 0});
  copy_records();
  CHECK(copy.stats().jobs.urgent == 1);
}

TEST_CASE("who queues at a pending tube is served from others, too") {
  World world(1);
  const ClientId boss = world.client();
  const ClientId first = world.client();
  const ClientId second = world.client();
  const ClientId third = world.client();
  world.say(boss, PauseTube{"default", 100});
  for (int i = 0; i < 2; ++i) world.put(boss, 5);
  world.say(boss, Use{"other"});
  const JobId in_other = world.put(boss, 9);
  world.say(third, Watch{"other"});
  world.say(first, Reserve{});
  world.say(second, Reserve{});
  world.say(boss, PauseTube{"default", 0});
  REQUIRE(world.out.replies.size() == 2);
  CHECK(world.out.replies[1].client == first);
  CHECK(world.say(third, Reserve{})->client == second);
  const Reply* reply = world.tick();
  REQUIRE(reply != nullptr);
  CHECK(reply->client == third);
  CHECK(reply->number == in_other);
}

}  // namespace
}  // namespace xylem
