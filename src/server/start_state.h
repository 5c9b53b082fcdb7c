// start_state(): the state that a start begins with: an engine with the jobs of the log, the log to
// go on with, and the time.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "server/clock.h"
#include "server/log.h"
#include "xylem/config.h"
#include "xylem/core/engine.h"
#include "xylem/result.h"
#include "xylem/storage/log.h"
#include "xylem/storage/posix_disk.h"

namespace xylem {

// A log directory in use; the lock lasts as long as this.
struct OpenLog {
  OwnDirectory directory;
  std::unique_ptr<WriteAheadLog> log{};
  std::uint64_t damaged_count = 0;
};

struct StartState {
  std::unique_ptr<Engine> engine;
  TurnClock clock;               // the engine's time, from here on
  std::optional<OpenLog> log{};  // none: jobs are in memory only
};

// Without config.log_directory: an empty engine at the wall clock's time. With it: locks the
// directory and reads the log. Tells progress to the operator and to systemd if it takes long, and
// calls `on_progress` every few ms; that may end the process, since the log is only being read.
// Errors carry their exit code: 10 if the directory cannot be had or holds something else than a
// log of ours, 1 if the log cannot be read or there is no space to go on.
Result<StartState> start_state(const Config& config, Log& logger,
                               const std::function<void()>& on_progress);

}  // namespace xylem
