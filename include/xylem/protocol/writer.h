// Writer: replies to bytes, exactly as protocol.md has them. Appends to `out` and looks at nothing
// else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "xylem/core/reply.h"

namespace xylem {

// What `stats` shows of the process, beside EngineStats.
struct ProcessStats {
  std::uint32_t most_job_bytes = 0;
  std::int64_t pid = 0;
  std::string_view version;        // X.Y
  std::uint64_t user_time_us = 0;  // of the process, microseconds
  std::uint64_t system_time_us = 0;
  std::uint64_t uptime_seconds = 0;
  std::uint64_t binlog_oldest_index = 0;
  std::uint64_t binlog_current_index = 0;
  std::uint64_t binlog_records_migrated = 0;
  std::uint64_t binlog_records_written = 0;
  std::uint64_t binlog_max_bytes = 10'485'760;
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

}  // namespace xylem
