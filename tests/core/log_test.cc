// The engine and its log: full and failed, segments, live bytes, compaction. That compaction loses
// nothing in any history is the simulation's to show.
#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <variant>

#include "world.h"

namespace xylem {
namespace {

constexpr std::uint64_t kDefaultPut = put_bytes(7, 1, false, false);  // "default", one byte

ReplyWord word_of(const Reply* reply) { return reply->word; }

TEST_CASE("a full log refuses put, and nothing else") {
  World world;
  const ClientId client = world.client();
  world.put(client);
  world.engine.set_log_state(LogState::kFull);
  const auto put = [&](bool terminated) {
    world.say(client, PutLine{.ttr = 1, .body_bytes = 1});
    return word_of(world.say(client, PutBody{.body = "x", .terminated = terminated}));
  };
  CHECK(put(true) == ReplyWord::kOutOfMemory);
  CHECK(world.out.records.empty());
  CHECK(world.engine.stats().total_jobs == 1);
  CHECK(put(false) == ReplyWord::kExpectedCrlf);
  world.engine.set_draining(true);
  CHECK(put(true) == ReplyWord::kDraining);
  world.engine.set_draining(false);
  CHECK(word_of(world.say(client, Reserve{})) == ReplyWord::kReserved);
  CHECK(word_of(world.say(client, Bury{1, 0})) == ReplyWord::kBuried);
  CHECK(world.out.records.size() == 1);
  CHECK(word_of(world.say(client, Delete{1})) == ReplyWord::kDeleted);
  world.engine.set_log_state(LogState::kOk);
  CHECK(put(true) == ReplyWord::kInserted);
}

TEST_CASE("a put whose record has no room is refused as if the log were full") {
  World world;
  const ClientId client = world.client();
  const auto put = [&](bool terminated, bool has_room) {
    world.say(client, PutLine{.ttr = 1, .body_bytes = 1});
    return word_of(
        world.say(client, PutBody{.body = "x", .terminated = terminated, .has_room = has_room}));
  };
  CHECK(put(true, false) == ReplyWord::kOutOfMemory);
  CHECK(world.out.records.empty());
  CHECK(world.engine.stats().total_jobs == 0);
  CHECK(put(false, false) == ReplyWord::kExpectedCrlf);
  CHECK(put(true, true) == ReplyWord::kInserted);
  world.engine.set_draining(true);
  CHECK(put(true, false) == ReplyWord::kDraining);
  world.engine.set_draining(false);
  world.engine.set_log_state(LogState::kFailed);
  CHECK(put(true, false) == ReplyWord::kInternalError);
}

TEST_CASE("a failed log answers INTERNAL_ERROR where a record would be made, and changes nothing") {
  World world;
  const ClientId client = world.client();
  for (int i = 0; i < 4; ++i) world.put(client);
  world.put(client, 0, 100);
  world.say(client, Reserve{});
  world.say(client, Reserve{});
  world.say(client, Bury{2, 0});
  world.engine.set_log_state(LogState::kFailed);
  const JobCounts before = world.engine.stats().jobs;
  const std::uint64_t bytes = world.engine.live_bytes();
  const auto say = [&](const Command& command) {
    const ReplyWord word = word_of(world.say(client, command));
    CHECK(world.out.records.empty());
    return word;
  };
  world.say(client, PutLine{.ttr = 1, .body_bytes = 1});
  CHECK(say(PutBody{.body = "x"}) == ReplyWord::kInternalError);
  CHECK(say(Delete{3}) == ReplyWord::kInternalError);
  CHECK(say(Release{1, 0, 0}) == ReplyWord::kInternalError);
  CHECK(say(Bury{1, 0}) == ReplyWord::kInternalError);
  CHECK(say(KickJob{2}) == ReplyWord::kInternalError);
  CHECK(say(Kick{1}) == ReplyWord::kInternalError);
  CHECK(say(PauseTube{"default", 1}) == ReplyWord::kInternalError);
  CHECK(say(ReserveJob{2}) == ReplyWord::kInternalError);
  CHECK(say(ReserveJob{3}) == ReplyWord::kInternalError);
  CHECK(say(ReserveWithTimeout{0}) == ReplyWord::kTimedOut);
  // What would have failed anyway says what it always says.
  CHECK(say(Delete{99}) == ReplyWord::kNotFound);
  CHECK(say(Release{3, 0, 0}) == ReplyWord::kNotFound);
  CHECK(say(Bury{3, 0}) == ReplyWord::kNotFound);
  CHECK(say(KickJob{3}) == ReplyWord::kNotFound);
  CHECK(say(ReserveJob{1}) == ReplyWord::kNotFound);
  CHECK(say(Kick{0}) == ReplyWord::kKickedCount);
  CHECK(say(PauseTube{"nosuch", 1}) == ReplyWord::kNotFound);
  CHECK(say(PauseTube{"-", 1}) == ReplyWord::kBadFormat);
  // And the rest goes on.
  CHECK(say(Touch{1}) == ReplyWord::kTouched);
  CHECK(say(PeekReady{}) == ReplyWord::kFound);
  CHECK(say(Use{"t"}) == ReplyWord::kUsing);
  CHECK(say(Kick{1}) == ReplyWord::kKickedCount);
  CHECK(world.engine.stats().jobs == before);
  CHECK(world.engine.live_bytes() == bytes);
  world.engine.set_log_state(LogState::kOk);
  CHECK(say(Delete{3}) == ReplyWord::kInternalError);
}

TEST_CASE("when the log fails waiting clients get nothing more, and time goes on") {
  World world(1);
  const ClientId first = world.client();
  const ClientId second = world.client();
  const ClientId boss = world.client();
  world.put(first, 0, 0, 5);
  world.say(first, Reserve{});
  world.say(boss, PauseTube{"default", 9});
  for (int i = 0; i < 2; ++i) world.put(boss);
  world.put(boss, 0, 3);
  CHECK(world.say(second, ReserveWithTimeout{7}) == nullptr);
  CHECK(world.say(first, Reserve{}) == nullptr);
  world.say(boss, PauseTube{"default", 0});  // one is served, the other left over: pending
  world.engine.set_log_state(LogState::kFailed);
  world.engine.check();
  const auto heard = world.pass(seconds(20));
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].client == first);
  CHECK(heard[0].word == ReplyWord::kDeadlineSoon);
  CHECK(world.engine.stats().jobs.delayed == 0);
  CHECK(world.engine.stats().job_timeouts == 1);
  CHECK(world.out.records.empty());
}

TEST_CASE("a kick under way ends when the log fails; what it has kicked stays kicked") {
  World world(10);
  const ClientId client = world.client();
  for (int i = 0; i < 25; ++i) world.put(client, 0, 100);
  CHECK(world.say(client, Kick{25}) == nullptr);
  world.engine.set_log_state(LogState::kFailed);
  CHECK(word_of(world.tick()) == ReplyWord::kInternalError);
  CHECK(world.engine.stats().jobs.ready == 10);
}

TEST_CASE("live bytes follow states and counters") {
  World world;
  const ClientId client = world.client();
  world.put(client);
  CHECK(world.engine.live_bytes() == kDefaultPut);
  world.put(client, 0, 1000);
  CHECK(world.engine.live_bytes() == 2 * kDefaultPut + 6);
  world.say(client, Reserve{});  // counted
  CHECK(world.engine.live_bytes() == 2 * kDefaultPut + 6 + 20);
  world.say(client, Bury{1, 0});
  CHECK(world.engine.live_bytes() == 2 * kDefaultPut + 12 + 20);
  world.say(client, Delete{2});
  world.say(client, PauseTube{"default", 10});
  CHECK(world.engine.live_bytes() == kDefaultPut + 26 + pause_bytes(7));
  world.say(client, PauseTube{"default", 20});
  CHECK(world.engine.live_bytes() == kDefaultPut + 26 + pause_bytes(7));
  world.pass(seconds(20));
  world.say(client, Delete{1});
  CHECK(world.engine.live_bytes() == 0);
}

TEST_CASE("a job stands in the segment of its latest put record") {
  World world;
  const ClientId client = world.client();
  world.engine.set_segment(3);
  const JobId id = world.put(client);
  world.say(client, PauseTube{"default", 100});
  world.engine.set_segment(4);
  world.say(client, ReserveJob{id});
  world.put(client);
  CHECK(world.engine.live_in(3) == 2);
  CHECK(world.engine.live_in(4) == 1);
  CHECK(world.job(client, id).file == 3);
  world.engine.moved_to_segment(id, 4);
  world.engine.moved_to_segment("default", 4);
  world.engine.moved_to_segment("nosuch", 4);
  world.engine.moved_to_segment(99, 4);
  world.engine.check();
  CHECK(world.engine.live_in(3) == 0);
  CHECK(world.engine.live_in(4) == 3);
  world.say(client, Delete{id});
  world.say(client, PauseTube{"default", 0});
  CHECK(world.engine.live_in(4) == 1);
}

TEST_CASE("what stands in an old segment is logged again, as it is now, and once") {
  World world;
  const ClientId client = world.client();
  world.engine.set_segment(1);
  const JobId id = world.put(client, 7);
  world.say(client, PauseTube{"default", 100});
  world.say(client, ReserveJob{id});
  world.engine.set_segment(2);
  const auto again = [&](auto what, std::uint32_t from) {
    return world.log([&](Engine& engine, Output& out) { engine.log_again(what, from, out); });
  };
  CHECK(again(id, 2).empty());
  CHECK(again(JobId{99}, 1).empty());
  const auto records = again(id, 1);
  REQUIRE(records.size() == 1);
  const auto& put = std::get<PutRecord>(records.front());
  CHECK(put.state == JobState::kReady);
  CHECK(put.pri == 7);
  CHECK(put.reserves == 1);
  CHECK(world.job(client, id).state == JobState::kReserved);
  CHECK(world.job(client, id).file == 2);
  CHECK(again(id, 1).empty());
  const auto pauses = again(std::string_view("default"), 1);
  REQUIRE(pauses.size() == 1);
  CHECK(std::get<PauseRecord>(pauses.front()).until == world.now + seconds(100));
  CHECK(again(std::string_view("default"), 1).empty());
  CHECK(again(std::string_view("nosuch"), 1).empty());
  CHECK(world.engine.live_in(1) == 0);
}

TEST_CASE("a walk over all jobs and pauses logs again what a lost segment held") {
  World world;
  const ClientId client = world.client();
  for (const std::uint32_t segment : {1U, 2U, 1U}) {
    world.engine.set_segment(segment);
    for (int i = 0; i < 2; ++i) world.put(client);
  }
  for (const char* name : {"a", "b", "c"}) {
    world.say(client, Watch{name});
    world.say(client, PauseTube{name, 100});
  }
  world.engine.set_segment(3);
  std::vector<JobId> steps;
  const auto records = world.log([&](Engine& engine, Output& out) {
    JobId at = 0;
    do {
      steps.push_back(at = engine.log_again_after(at, 1, 4, out));
    } while (at != 0);
  });
  CHECK(records.size() == 4);
  CHECK(steps == std::vector<JobId>{4, 0});
  bool done = true;
  const auto count = [&](std::uint32_t from, std::uint32_t budget) {
    return world.log([&](Engine& e, Output& out) { done = e.log_pauses_again(from, budget, out); })
        .size();
  };
  CHECK(count(1, 2) == 2);
  CHECK_FALSE(done);
  CHECK(count(1, 2) == 1);
  CHECK(done);
  CHECK(count(3, 2) == 0);
  CHECK(done);
  CHECK(world.engine.live_in(1) == 0);
  CHECK(world.engine.live_in(2) == 2);
  CHECK(world.engine.live_in(3) == 7);
}

TEST_CASE("marks raise what counts as given, never lower it") {
  World world;
  world.engine.raise_marks(41, 7);
  world.engine.raise_marks(5, 3);
  const ClientId client = world.client();
  CHECK(world.put(client) == 42);
  world.say(client, Reserve{});
  world.say(client, Bury{42, 0});
  CHECK(world.engine.last_id() == 42);
  CHECK(world.engine.last_bury_order() == 8);
}

TEST_CASE("an order of burying counts as given though its job is not known yet") {
  World world;
  world.engine.apply(BuryRecord{.id = 1, .pri = 0, .bury_order = 7}, Time{}, 1);
  CHECK(world.engine.last_bury_order() == 7);
  world.engine.apply(MoveRecord{.id = 1, .tube = "t", .bury_order = 9}, Time{}, 1);
  CHECK(world.engine.last_bury_order() == 9);
  world.engine.apply(MoveRecord{.id = 1, .tube = "t"}, Time{}, 1);
  CHECK(world.engine.last_bury_order() == 9);
}

// Not a temporary in each call: of those g++ 12 believes, with the sanitizers on, that they are
// never initialised.
const ReplyDetails kNoDetails;

TEST_CASE("which replies say nothing of jobs") {
  const auto says = [](ReplyWord word, const ReplyDetails& details = kNoDetails) {
    return says_of_jobs({.word = word}, details);
  };
  for (const ReplyWord word : {ReplyWord::kUsing, ReplyWord::kWatching, ReplyWord::kNotIgnored,
                               ReplyWord::kTouched, ReplyWord::kTimedOut, ReplyWord::kDeadlineSoon,
                               ReplyWord::kBadFormat, ReplyWord::kInternalError}) {
    CHECK_FALSE(says(word));
  }
  for (const ReplyWord word : {ReplyWord::kInserted, ReplyWord::kReserved, ReplyWord::kNotFound,
                               ReplyWord::kDeleted, ReplyWord::kPaused}) {
    CHECK(says(word));
  }
  CHECK(says(ReplyWord::kOk, EngineStats{}));
  CHECK(says(ReplyWord::kOk, TubeList{}));
  CHECK_FALSE(says(ReplyWord::kOk, TubeList{.names = {}, .watched = true}));
}

}  // namespace
}  // namespace xylem
