// A subcommand is a row of the table in subcommands.cc: its name, what --help says, and a function
// that declares its options and returns what runs it.
//
// If you add one, also: its man page in packaging/man, the completions in packaging/completions,
// and a transcript in tests/tool/transcripts.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

#include "tool.h"

namespace xylem::tool {

// What the process ends with, or an Error: one line on standard error, and its exit code.
using Run = std::function<Result<int>(Tool&)>;

struct Subcommand {
  std::string_view name;
  std::string_view help;
  std::string_view examples;  // lines of a terminal
  Run (*set_up)(CLI::App&);
};

struct Group {
  std::string_view title;
  std::span<const Subcommand> subcommands;
};
std::span<const Group> groups();

// put.cc
Run set_up_put(CLI::App& app);
// work.cc
Run set_up_work(CLI::App& app);
// dump.cc, load.cc
Run set_up_dump(CLI::App& app);
Run set_up_load(CLI::App& app);
// ls.cc
Run set_up_ls(CLI::App& app);
// tubes.cc
Run set_up_tubes(CLI::App& app);
// look.cc
Run set_up_stats(CLI::App& app);
Run set_up_peek(CLI::App& app);
Run set_up_wait(CLI::App& app);
// top.cc
Run set_up_top(CLI::App& app);
// jobs.cc
Run set_up_delete(CLI::App& app);
Run set_up_kick_job(CLI::App& app);
Run set_up_bury(CLI::App& app);
Run set_up_release(CLI::App& app);
Run set_up_reprioritize(CLI::App& app);
// clear_tubes.cc
Run set_up_flush(CLI::App& app);
Run set_up_move(CLI::App& app);
// whole_tubes.cc
Run set_up_kick(CLI::App& app);
Run set_up_pause(CLI::App& app);
Run set_up_resume(CLI::App& app);
// servers.cc
Run set_up_ping(CLI::App& app);
Run set_up_version(CLI::App& app);
Run set_up_drain(CLI::App& app);
Run set_up_undrain(CLI::App& app);
// log_and_bench.cc
Run set_up_log(CLI::App& app);
Run set_up_bench(CLI::App& app);

// Options that several have. `tube` must be a name that the protocol allows.
std::string check_tube(const std::string& tube);  // empty, or what is wrong with it
CLI::Option* add_tube(CLI::App& app, std::string& tube);
CLI::Option* add_tube_option(CLI::App& app, std::string& tube);
// A number of decimal digits. (CLI11's own may be octal, hexadecimal, negative, or cut to what
// fits, and name another job then.)
struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
inline constexpr NumberRange kAnyId{0, std::numeric_limits<JobId>::max()};
inline constexpr NumberRange kAnyPri{0, std::numeric_limits<std::uint32_t>::max()};
CLI::Option* add_number(CLI::App& app, const std::string& name, const std::string& help,
                        NumberRange range, std::function<void(std::uint64_t)> take);
CLI::Option* add_ids(CLI::App& app, std::vector<JobId>& ids);
CLI::Option* add_pri(CLI::App& app, const std::string& help,
                     std::function<void(std::uint32_t)> take);
// A time of whole seconds: 90, 90s, 15m, 2h, 1d. 500ms is refused, with the reason.
CLI::Option* add_seconds(CLI::App& app, const std::string& name, std::uint32_t& seconds,
                         const std::string& help);
// A time of our own, where milliseconds are fine.
CLI::Option* add_time(CLI::App& app, const std::string& name, std::chrono::milliseconds& time,
                      const std::string& help);
// How often to look; not without a pause.
CLI::Option* add_interval(CLI::App& app, std::chrono::milliseconds& time, std::string_view usual);
// "TUBE" or "JOB-ID", and -t for a tube whose name is all digits.
struct TubeOrJob {
  std::string word = {};
  std::string tube = {};

  [[nodiscard]] bool is_given() const { return !word.empty() || !tube.empty(); }
  [[nodiscard]] std::optional<JobId> id() const;
  [[nodiscard]] const std::string& tube_name() const { return tube.empty() ? word : tube; }
};
void add_tube_or_job(CLI::App& app, TubeOrJob& either, bool required);

}  // namespace xylem::tool
