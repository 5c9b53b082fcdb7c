// A subcommand is a row of the table in subcommands.cc: its name, what --help says, and a function
// that declares its options and returns what runs it.
//
// If you add one, also: its man page in packaging/man, the completions in packaging/completions,
// and a transcript in tests/tool/transcripts.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string_view>

#include "command_line.h"
#include "tool.h"

namespace xylem::tool {

// What the process ends with, or an Error: one line on standard error, and its exit code.
using Run = std::function<Result<int>(Tool&)>;

struct Subcommand {
  std::string_view name;
  std::string_view help;
  std::string_view examples;  // lines of a terminal
  Run (*set_up)(CommandLine&);
};

struct Group {
  std::string_view title;
  std::span<const Subcommand> subcommands;
};
std::span<const Group> groups();

// put.cc
Run set_up_put(CommandLine& line);
// work.cc
Run set_up_work(CommandLine& line);
// dump.cc, load.cc
Run set_up_dump(CommandLine& line);
Run set_up_load(CommandLine& line);
// ls.cc
Run set_up_ls(CommandLine& line);
// tubes.cc
Run set_up_tubes(CommandLine& line);
// look.cc
Run set_up_stats(CommandLine& line);
Run set_up_peek(CommandLine& line);
Run set_up_wait(CommandLine& line);
// top.cc
Run set_up_top(CommandLine& line);
// jobs.cc
Run set_up_delete(CommandLine& line);
Run set_up_kick_job(CommandLine& line);
Run set_up_bury(CommandLine& line);
Run set_up_release(CommandLine& line);
Run set_up_reprioritize(CommandLine& line);
// clear_tubes.cc
Run set_up_flush(CommandLine& line);
Run set_up_move(CommandLine& line);
// whole_tubes.cc
Run set_up_kick(CommandLine& line);
Run set_up_pause(CommandLine& line);
Run set_up_resume(CommandLine& line);
// servers.cc
Run set_up_ping(CommandLine& line);
Run set_up_version(CommandLine& line);
Run set_up_drain(CommandLine& line);
Run set_up_undrain(CommandLine& line);
// log_and_bench.cc
Run set_up_log(CommandLine& line);
Run set_up_bench(CommandLine& line);

// Options that several have. `tube` must be a name that the protocol allows.
std::string check_tube(const std::string& tube);  // empty, or what is wrong with it
Argument add_tube(CommandLine& line, std::string& tube);
Argument add_tube_option(CommandLine& line, std::string& tube);
// A number of decimal digits. (CLI11's own may be octal, hexadecimal, negative, or cut to what
// fits, and name another job then.)
struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
inline constexpr NumberRange kAnyId{0, std::numeric_limits<JobId>::max()};
inline constexpr NumberRange kAnyPri{0, std::numeric_limits<std::uint32_t>::max()};
Argument add_number(CommandLine& line, const std::string& name, const std::string& help,
                    NumberRange range, std::function<void(std::uint64_t)> take);
Argument add_ids(CommandLine& line, std::vector<JobId>& ids);
Argument add_pri(CommandLine& line, const std::string& help,
                 std::function<void(std::uint32_t)> take);
// A time of whole seconds: 90, 90s, 15m, 2h, 1d. 500ms is refused, with the reason.
Argument add_seconds(CommandLine& line, const std::string& name, std::uint32_t& seconds,
                     const std::string& help);
// A time of our own, where milliseconds are fine.
Argument add_time(CommandLine& line, const std::string& name, std::chrono::milliseconds& time,
                  const std::string& help);
// How often to look; not without a pause.
Argument add_interval(CommandLine& line, std::chrono::milliseconds& time, std::string_view usual);
// "TUBE" or "JOB-ID", and -t for a tube whose name is all digits.
struct TubeOrJob {
  std::string word = {};
  std::string tube = {};

  [[nodiscard]] bool is_given() const { return !word.empty() || !tube.empty(); }
  [[nodiscard]] std::optional<JobId> id() const;
  [[nodiscard]] const std::string& tube_name() const { return tube.empty() ? word : tube; }
};
void add_tube_or_job(CommandLine& line, TubeOrJob& either, bool required);

}  // namespace xylem::tool
