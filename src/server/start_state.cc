// From a configuration to an engine that has its jobs. All of it blocks: the sockets are bound, but
// nobody is served before it ends.

#include "server/start_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/clock.h"
#include "server/memory.h"
#include "server/systemd.h"
#include "xylem/storage/import.h"
#include "xylem/storage/recovery.h"

namespace xylem {
namespace {

constexpr int kNoDirectory = 10;  // as beanstalkd
// What takes longer is told, again and again.
constexpr std::chrono::seconds kPatience{2};

// Recovery's records go to the engine.
class Applier final : public RecordSink {
 public:
  Applier(Engine& engine, Log& logger, const std::function<void()>& on_progress)
      : engine_(engine), logger_(logger), on_progress_(on_progress) {}

  void take(const Record& record, SegmentNumber segment, Time now) override {
    engine_.apply(record, now, segment);
  }

  void progress(std::uint64_t bytes_read, std::uint64_t bytes_total) override {
    on_progress_();
    const auto now = std::chrono::steady_clock::now();
    if (now - told_at_ < kPatience) return;
    told_at_ = now;
    const std::uint64_t percent = bytes_total == 0 ? 100 : bytes_read * 100 / bytes_total;
    const std::string status = fmt::format("reading the log: {} %", percent);
    logger_.info("{}", status);
    notify_starting(status);
  }

 private:
  Engine& engine_;
  Log& logger_;
  const std::function<void()>& on_progress_;
  std::chrono::steady_clock::time_point told_at_ = std::chrono::steady_clock::now();
};

// beanstalkd's files, and none of ours: whoever starts us here believes that we read them.
Result<Done> refuse_binlogs(Directory& directory) {
  auto names = directory.list();
  if (!names) return names.error();
  const auto is_ours = [](const std::string& name) { return segment_number(name).has_value(); };
  const auto is_binlog = [](const std::string& name) { return name.starts_with("binlog."); };
  if (std::ranges::any_of(names.value(), is_ours)) return Done{};
  if (std::ranges::none_of(names.value(), is_binlog)) return Done{};
  return Error{
      fmt::format("{} holds logs of beanstalkd, and none of xylemd; to take over its jobs, "
                  "name an empty directory with -b and this one with --import-binlog",
                  directory.path_of("")),
      kNoDirectory};
}

void tell(const Recovered& found, Log& logger) {
  for (const Damage& damage : found.damage) logger.error("log: {}", damage.text);
  if (!found.torn_tail.empty()) logger.info("log: {}", found.torn_tail);
}

// design.md, "The clock".
Time goes_on_at(const Recovered& found) {
  if (found.segments.empty()) return wall_now();
  return found.cluster_time + std::max(wall_now() - found.wall_time, Duration::zero());
}

// A log that only half of the jobs were imported into is no log.
Result<Done> refuse_unfinished(Directory& directory) {
  auto unfinished = directory.has(kUnfinishedImport);
  if (!unfinished) return unfinished.error();
  if (!unfinished.value()) return Done{};
  return Error{
      fmt::format("{} holds an import that was cut short; do it again", directory.path_of("")),
      kNoDirectory};
}

Result<OpenLog> open_log_directory(const std::string& path) {
  auto own = open_locked(path);
  if (!own) return own.error();
  for (const auto refuse : {refuse_binlogs, refuse_unfinished}) {
    if (auto refused = refuse(*own.value().files); !refused) return refused.error();
  }
  return OpenLog{.directory = std::move(own).value()};
}

}  // namespace

Result<StartState> start_state(const Config& config, Log& logger,
                               const std::function<void()>& on_progress) {
  const bool recording = !config.log_directory.empty();
  StartState state{.engine = std::make_unique<Engine>(
                       Engine::Options{.recording = recording, .prepare_memory = fault_in}),
                   .clock = TurnClock(wall_now())};
  if (!recording) return state;
  auto opened = open_log_directory(config.log_directory);
  if (!opened) return opened.error();
  state.log = std::move(opened).value();
  Applier applier(*state.engine, logger, on_progress);
  auto found = recover(*state.log->directory.files, applier, false);
  if (!found) return found.error();
  tell(found.value(), logger);
  state.engine->raise_marks(found.value().last_id, found.value().last_bury_order);
  state.log->damaged_count = found.value().damage.size();
  auto log =
      WriteAheadLog::open(*state.log->directory.files, config.log_segment_bytes, found.value());
  if (!log) return log.error();
  state.log->log = std::move(log).value();
  const EngineStats stats = state.engine->stats();
  logger.info("log: {} records, {} jobs in {} segments", found.value().record_count,
              stats.jobs.ready + stats.jobs.delayed + stats.jobs.buried,
              found.value().segments.size());
  // Last: what takes time would put the clock back by as much.
  state.clock = TurnClock(goes_on_at(found.value()));
  return state;
}

}  // namespace xylem
