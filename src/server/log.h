// Log: what an operator reads, on stderr: one line per event, as text or as JSON. Connections and
// what they do wrong are told at debug level only, so that no client can fill a disk.
#pragma once

#include <spdlog/logger.h>

#include "xylem/config.h"

namespace xylem {

using Log = spdlog::logger;

Log make_log(const Config& config);
// SIGHUP: takes level and format from `config`.
void configure(Log& log, const Config& config);

}  // namespace xylem
