// Config: what an operator may choose, as one value, made from the command line and a YAML file.
// The command line wins over the file, the file over the defaults below. docs/example.yaml lists
// every key with its default, and a test keeps it so.
//
// If you add a key, also: docs/example.yaml, packaging/xylemd.8, src/config, and reload() in the
// server if SIGHUP can change it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "xylem/core/limits.h"
#include "xylem/result.h"

namespace xylem {

// When the log is synced: before each reply, at most so many ms after a write, not at all.
enum class SyncPolicy : std::uint8_t { kAlways, kInterval, kNoSync };

enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug, kTrace };
enum class LogFormat : std::uint8_t { kText, kJson };

// Where to listen: an address or host name with a port or service name, or a unix socket.
struct TcpAddress {
  std::string host;
  std::string port = "11300";
  bool operator==(const TcpAddress&) const = default;
};
struct UnixAddress {
  std::string path;
  bool operator==(const UnixAddress&) const = default;
};
using ListenAddress = std::variant<TcpAddress, UnixAddress>;

struct Config {
  // listen: [-l, -p]. Sockets passed by systemd win over these.
  std::vector<ListenAddress> listen{TcpAddress{.host = "127.0.0.1"}};
  // user: [-u]. Empty: stay who we are.
  std::string user;

  // admin-commands: whether flush-tube and its like are commands (protocol.md, "Commands of our
  // own"), R
  bool admin_commands = true;

  // limits.*; those marked R are taken over by SIGHUP.
  std::uint32_t most_job_bytes = limits::kDefaultJobBytes;  // max-job-size [-z], R
  std::uint32_t most_connections = 0;      // max-connections, 0: as descriptors allow, R
  std::uint32_t idle_timeout_seconds = 0;  // idle-timeout, 0: none, R
  std::uint64_t out_buffer_bytes = limits::kOutBufferBytes;  // out-buffer, R

  // log.*, the write-ahead log.
  std::string log_directory;                     // dir [-b]; empty: jobs are in memory only
  SyncPolicy log_sync = SyncPolicy::kAlways;     // sync [-f, -F], R
  std::uint32_t log_interval_ms = 50;            // interval [-f], of kInterval; at least 1, R
  std::uint64_t log_segment_bytes = 10'485'760;  // segment-size [-s]

  // logging.*: level [-V raises it], format; both R.
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;

  // Not in the file.
  std::string config_file;           // --config
  std::vector<std::string> notices;  // what to warn of at start: ignored -c, a clamped size ...
};

// What main should do with a command line.
struct Run {
  Config config;
};
struct PrintAndExit {
  std::string text;
  bool to_stderr = false;
  int exit_code = 0;
};
// --import-binlog: take a beanstalkd's jobs over into an empty log.
struct ImportBinlog {
  Config config;
  std::string from;
};
// --check-log, --dump-log: look at a stopped server's log.
struct CheckLog {
  std::string directory;
};
struct DumpLog {
  std::string directory;
  bool as_json = false;
};
using Invocation = std::variant<Run, PrintAndExit, ImportBinlog, CheckLog, DumpLog>;

// Parses beanstalkd's options and ours (xylemd(8)), reads the config file if one is named. Usage
// errors are PrintAndExit with code 5, -h and -v with 0 (behaviour of beanstalkd), --check-config
// with 0 or 5.
Invocation parse_invocation(int argc, const char* const* argv);

// Defaults overlaid with the file, then with the same command line: what SIGHUP does. On an error
// nothing is changed and the text names file, line and key.
Result<Config> reload_config(int argc, const char* const* argv);

}  // namespace xylem
