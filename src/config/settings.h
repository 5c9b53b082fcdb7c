// Settings: what one source (the command line, or a file) says, before the sources are laid over
// each other. What a source does not mention is empty.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/config.h"
#include "xylem/result.h"

namespace xylem {

// What a number may be, in the file as on the command line.
inline constexpr std::uint32_t kAnyU32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kLeastOutBuffer = 1'024;
inline constexpr std::uint64_t kMostOutBuffer = 1ULL << 40U;

struct Settings {
  std::vector<std::string> listen;  // as written: see parse_listen_address()
  std::optional<std::string> port;  // for addresses that name none
  std::optional<std::string> user;
  std::optional<bool> admin_commands;
  std::optional<std::uint32_t> most_job_bytes;
  std::optional<std::uint32_t> most_connections;
  std::optional<std::uint32_t> idle_timeout_seconds;
  std::optional<std::uint64_t> out_buffer_bytes;
  std::optional<std::string> log_directory;
  std::optional<SyncPolicy> log_sync;
  std::optional<std::uint32_t> log_interval_ms;
  std::optional<std::uint64_t> log_segment_bytes;
  std::optional<LogLevel> log_level;
  std::optional<LogFormat> log_format;
  std::uint32_t verbosity = 0;       // how often -V was given
  std::vector<std::string> notices;  // see Config::notices
};

// Flags that are no settings.
struct CommandLine {
  Settings settings;
  std::string config_file;
  bool check_config = false;
  std::string import_binlog;
  std::string check_log;
  std::string dump_log;
  bool as_json = false;
};

// The command line, or what to print instead of running.
std::variant<CommandLine, PrintAndExit> read_command_line(int argc, const char* const* argv);

// The YAML file. Errors name file, line and key.
Result<Settings> read_file(const std::string& path);

// `over` wins. The result has no optional left.
Result<Config> merge(const Settings& under, const Settings& over);

// "HOST", "HOST:PORT", "[V6]", "[V6]:PORT", a bare IPv6 address, or "unix:PATH". The error is half
// a sentence that says what is wrong with it.
Result<ListenAddress> parse_listen_address(const std::string& text, const std::string& port);

// Decimal digits and nothing else, so that 010 is ten wherever it stands; from `low` to `high`.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t low,
                                          std::uint64_t high);
// What to say to anything else.
std::string must_be_number(std::uint64_t low, std::uint64_t high);

// beanstalkd's -z: larger sizes are cut to limits::kMostJobBytes, with a notice.
std::uint32_t clamp_job_bytes(std::uint64_t bytes, std::vector<std::string>& notices);

// beanstalkd's -s takes any size; a smaller segment than this would hold nothing.
std::uint64_t clamp_segment_bytes(std::uint64_t bytes, std::vector<std::string>& notices);

// The words of log.sync, logging.level and logging.format.
std::optional<SyncPolicy> sync_policy_named(const std::string& word);
std::optional<LogLevel> log_level_named(const std::string& word);
std::optional<LogFormat> log_format_named(const std::string& word);

}  // namespace xylem
