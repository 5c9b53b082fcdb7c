// What a start begins with: the time, by the clock rules of design.md, and who is refused. Each
// case has a real directory, with a log that was written at another wall clock's time.

#include "server/start_state.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/null_sink.h>

#include <string>

#include "server/clock.h"
#include "support/temporary_folder.h"
#include "xylem/storage/import.h"

namespace xylem {
namespace {

using Folder = test::TemporaryFolder;

Result<StartState> start(const Folder& folder) {
  Log logger("", std::make_shared<spdlog::sinks::null_sink_st>());
  Config config;
  config.log_directory = folder.path();
  return start_state(config, logger, [] {});
}

// The engine's time when the log below was written.
constexpr Time kThen{Duration(17'000'000'000'000)};

// A log with job 1, delayed by 1,000 s, that was written when the wall clock showed `wall`.
void write_log(const Folder& folder, Time wall) {
  auto directory = open_directory(folder.path(), Access::kWrite);
  REQUIRE(directory.ok());
  auto log = WriteAheadLog::open(*directory.value(), 65'536, {});
  REQUIRE(log.ok());
  log.value()->append(PutRecord{.id = 1,
                                .tube = "t",
                                .state = JobState::kDelayed,
                                .delay = 1'000,
                                .ttr = 1,
                                .created_at = kThen,
                                .deadline_at = kThen + seconds(1'000),
                                .body = "x"});
  auto write = log.value()->begin_write({.cluster = kThen, .wall = wall}, true);
  REQUIRE(write != nullptr);
  write->run();
  log.value()->finish(std::move(write));
  REQUIRE(log.value()->close().ok());
}

std::int64_t delay_left(const StartState& state) {
  Output out;
  const ClientId client = state.engine->connect(state.clock.read().ceil);
  state.engine->execute(client, StatsJob{1}, state.clock.read().ceil, out);
  const auto* stats = std::get_if<JobStats>(&out.details);
  REQUIRE(stats != nullptr);
  return stats->time_left;
}

TEST_CASE("a wall clock that went back holds nothing back: time goes on where it was") {
  for (const std::uint32_t back : {3'600U, 50U * 365 * 86'400}) {
    const Folder folder;
    write_log(folder, wall_now() + seconds(back));
    auto state = start(folder);
    REQUIRE(state.ok());
    CHECK(state.value().clock.read().ceil >= kThen);
    CHECK(state.value().clock.read().ceil < kThen + seconds(60));
    CHECK(delay_left(state.value()) > 930);
  }
}

TEST_CASE("delays run on while the server is down, also if the wall clock was set ahead") {
  const Folder folder;
  write_log(folder, wall_now() - seconds(600));
  auto state = start(folder);
  REQUIRE(state.ok());
  CHECK(delay_left(state.value()) < 400);
  CHECK(delay_left(state.value()) > 330);

  const Folder later;
  write_log(later, wall_now() - seconds(3'600));
  auto due = start(later);
  REQUIRE(due.ok());
  CHECK(due.value().clock.read().ceil >= kThen + seconds(3'600));
  CHECK(delay_left(due.value()) == 0);
}

TEST_CASE("an empty directory begins at the wall clock") {
  const Folder folder;
  auto state = start(folder);
  REQUIRE(state.ok());
  CHECK(state.value().log.has_value());
  CHECK(state.value().clock.read().ceil >= wall_now() - seconds(60));
}

TEST_CASE("binlogs without a log of ours, and half an import, are refused with exit code 10") {
  const Folder folder;
  folder.write("binlog.1", "x");
  auto binlogs = start(folder);
  REQUIRE_FALSE(binlogs.ok());
  CHECK(binlogs.error().exit_code == 10);
  CHECK(binlogs.error().text.find("--import-binlog") != std::string::npos);

  const Folder half;
  half.write(std::string(kUnfinishedImport), "x");
  auto unfinished = start(half);
  REQUIRE_FALSE(unfinished.ok());
  CHECK(unfinished.error().exit_code == 10);
}

}  // namespace
}  // namespace xylem
