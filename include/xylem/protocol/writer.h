// Writer: replies to bytes, exactly as protocol.md has them. Appends to `out` and looks at nothing
// else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/core/reply.h"

namespace xylem {

// What `stats` shows of the log. All but `state` count since the start, or tell of now.
struct LogStats {
  std::optional<LogState> state;  // none: there is no log
  // beanstalkd's binlog-* keys: segments by number, and records.
  std::uint64_t oldest_segment = 0;
  std::uint64_t current_segment = 0;
  std::uint64_t records_migrated = 0;  // by compaction
  std::uint64_t records_written = 0;   // those too
  std::uint64_t segment_bytes = 10'485'760;
  // Keys of our own.
  std::uint64_t live_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t segments = 0;
  std::uint64_t damaged_records = 0;
  std::uint64_t fsyncs = 0;
  std::uint64_t records_synced = 0;  // by them
  std::uint64_t last_fsync_us = 0;
  std::uint64_t worst_fsync_us = 0;
};

// What `stats` shows of the process, beside EngineStats.
struct ProcessStats {
  std::uint32_t most_job_bytes = 0;
  std::int64_t pid = 0;
  std::string_view version;        // X.Y
  std::uint64_t user_time_us = 0;  // of the process, microseconds
  std::uint64_t system_time_us = 0;
  std::uint64_t uptime_seconds = 0;
  LogStats log{};
  std::string_view id;  // 16 hex digits
  std::string_view hostname;
  std::string_view os;
  std::string_view platform;
  // Keys of our own, after beanstalkd's.
  std::uint64_t most_connections = 0;
  std::uint64_t refused_connections = 0;
};

// A reply of any word but kOk. If reply.buffer is set, only the line before the body is written:
// the caller sends buffer->view(), which ends with the CRLF, behind it.
void write_reply(std::string& out, const Reply& reply);

// A word alone, with CRLF; for words that carry nothing.
void write_word(std::string& out, ReplyWord word);

// "OK <n>", the YAML of `details` (which must not be empty), CRLF.
void write_details(std::string& out, const ReplyDetails& details, const ProcessStats& process);

// The same for a list that comes in parts, and for any that is long: the lines of all parts, in
// pieces that need not be copied; then "OK <n>" and what begins the YAML, to stand before them. The
// CRLF behind them is the caller's.
using Lines = std::vector<std::string>;
void append_lines(Lines& lines, const ReplyDetails& details, const ProcessStats& process);
void write_block_head(std::string& out, const Lines& lines);

}  // namespace xylem
