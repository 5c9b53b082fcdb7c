// What the statistics commands show, as values; protocol/writer makes the YAML. Order and
// names are protocol.md, "Statistics". Counts of now are exact at the moment of the command.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "xylem/core/ids.h"

namespace xylem {

enum class JobState : std::uint8_t { kReady, kDelayed, kReserved, kBuried };

constexpr std::string_view name_of(JobState state) {
  constexpr std::array<std::string_view, 4> kNames{"ready", "delayed", "reserved", "buried"};
  return kNames[static_cast<std::size_t>(state)];
}

// How the log is (design: "A full disk is not a failed disk"). kFull: no segment can be had, so put
// is refused. kFailed, for good: nothing is recorded any more, so nothing may change that a record
// would have to say.
enum class LogState : std::uint8_t { kOk, kFull, kFailed };

constexpr std::string_view name_of(LogState state) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "full", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

// Jobs by state; kept by each tube and by the engine. `urgent` are the ready ones below priority
// 1024.
struct JobCounts {
  std::uint64_t urgent = 0;
  std::uint64_t ready = 0;
  std::uint64_t reserved = 0;
  std::uint64_t delayed = 0;
  std::uint64_t buried = 0;

  bool operator==(const JobCounts&) const = default;
};

// Commands of a kind that parsed, whatever their outcome. The members stand in the order of
// `stats`.
struct CommandCounts {
  std::uint64_t put = 0;
  std::uint64_t peek = 0;
  std::uint64_t peek_ready = 0;
  std::uint64_t peek_delayed = 0;
  std::uint64_t peek_buried = 0;
  std::uint64_t reserve = 0;
  std::uint64_t reserve_with_timeout = 0;
  std::uint64_t delete_ = 0;
  std::uint64_t release = 0;
  std::uint64_t use = 0;
  std::uint64_t watch = 0;
  std::uint64_t ignore = 0;
  std::uint64_t bury = 0;
  std::uint64_t kick = 0;
  std::uint64_t touch = 0;
  std::uint64_t stats = 0;
  std::uint64_t stats_job = 0;
  std::uint64_t stats_tube = 0;
  std::uint64_t list_tubes = 0;
  std::uint64_t list_tube_used = 0;
  std::uint64_t list_tubes_watched = 0;
  std::uint64_t pause_tube = 0;
  // Of our own commands; behind all else.
  std::uint64_t caps = 0;
  std::uint64_t list_jobs = 0;
  std::uint64_t flush_tube = 0;
  std::uint64_t move_jobs = 0;
  std::uint64_t reprioritize = 0;
  std::uint64_t peek_reserved = 0;
  std::uint64_t drain = 0;
  std::uint64_t undrain = 0;
  std::uint64_t stats_tubes = 0;

  bool operator==(const CommandCounts&) const = default;
};

// `stats`, as far as the engine knows it; the process adds its own part (protocol/writer.h).
struct EngineStats {
  JobCounts jobs;
  CommandCounts commands;
  std::uint64_t job_timeouts = 0;
  std::uint64_t total_jobs = 0;
  std::uint64_t current_tubes = 0;
  std::uint64_t current_connections = 0;
  std::uint64_t current_producers = 0;
  std::uint64_t current_workers = 0;
  std::uint64_t current_waiting = 0;
  std::uint64_t total_connections = 0;
  bool draining = false;

  bool operator==(const EngineStats&) const = default;
};

// `stats-job`. Times in whole seconds.
struct JobStats {
  JobId id = 0;
  std::string_view tube;
  JobState state = JobState::kReady;
  std::uint32_t pri = 0;
  std::int64_t age = 0;
  std::uint32_t delay = 0;
  std::uint32_t ttr = 0;
  std::int64_t time_left = 0;
  std::uint64_t file = 0;  // the segment of the log in which it stands; 0 without a log
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;

  bool operator==(const JobStats&) const = default;
};

// A job in `list-jobs`; the tube is that of the command.
struct ListedJob {
  JobStats stats;
  std::uint32_t body_bytes = 0;
  std::uint64_t bury_order = 0;  // if buried

  bool operator==(const ListedJob&) const = default;
};

// `stats-tube`. Times in whole seconds.
struct TubeStats {
  std::string_view name;
  JobCounts jobs;
  std::uint64_t total_jobs = 0;
  std::uint64_t using_count = 0;
  std::uint64_t watching_count = 0;
  std::uint64_t waiting_count = 0;
  std::uint64_t delete_count = 0;
  std::uint64_t pause_count = 0;
  std::uint32_t pause = 0;
  std::int64_t pause_time_left = 0;

  bool operator==(const TubeStats&) const = default;
};

}  // namespace xylem
