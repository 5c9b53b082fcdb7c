// The command line. CLI11 is included here and nowhere else. beanstalkd's letters keep their
// meaning, may be bundled (-VVl ADDR) and may have their argument attached (-p11300); every option
// has a long name beside its letter. Of an option that is given twice the last counts, so that a
// service file can append to what it has; only addresses add up.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "config/settings.h"

namespace xylem {
namespace {

constexpr int kUsageExit = 5;
constexpr int kNoSuchUser = 33;  // in a file an empty name means none; as a word it is a mistake

// beanstalkd reads sizes as scanf does: blanks, a sign and digits; a negative number wraps around.
std::optional<std::uint64_t> scan_size(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return negative ? 0 - value : value;
}

// An argument that a script left empty is no argument: no default for it is what was meant.
const CLI::Validator kNotEmpty(
    [](const std::string& text) { return text.empty() ? "must not be empty" : std::string(); }, "");

template <class T>
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<T>& target, T low,
                        T high, const std::string& description) {
  return app.add_option_function<std::string>(
      name,
      [name, low, high, &target](const std::string& text) {
        const auto number = parse_number(text, low, high);
        if (!number) throw CLI::ValidationError(name, must_be_number(low, high));
        target = static_cast<T>(*number);
      },
      description);
}

void add_serving_options(CLI::App& app, CommandLine& line) {
  Settings& settings = line.settings;
  app.add_option("-l,--listen", settings.listen,
                 "listen on ADDR: HOST, HOST:PORT, [V6]:PORT or unix:PATH; may be repeated "
                 "(127.0.0.1)")
      ->type_name("ADDR")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("-p,--port", settings.port, "port of addresses that name none (11300)")
      ->type_name("PORT")
      ->check(kNotEmpty);
  app.add_option("-u,--user", settings.user, "become USER and its groups")->type_name("USER");
  app.add_option_function<std::string>(
         "-z,--max-job-size",
         [&settings](const std::string& text) {
           const auto bytes = scan_size(text);
           if (!bytes) throw CLI::ValidationError("-z", fmt::format("'{}' is no size", text));
           settings.most_job_bytes = clamp_job_bytes(*bytes, settings.notices);
         },
         fmt::format("largest body of a job ({})", limits::kDefaultJobBytes))
      ->type_name("BYTES");
  add_number(app, "--max-connections", settings.most_connections, 0U, kAnyU32,
             "most connections; 0: as many as descriptors allow (0)")
      ->type_name("N");
  add_number(app, "--idle-timeout", settings.idle_timeout_seconds, 0U, kAnyU32,
             "close connections that are silent this long; 0: never (0)")
      ->type_name("SECONDS");
  add_number<std::uint64_t>(
      app, "--out-buffer", settings.out_buffer_bytes, kLeastOutBuffer, kMostOutBuffer,
      fmt::format("a connection that owes more is not read ({})", limits::kOutBufferBytes))
      ->type_name("BYTES");
}

void add_logging_options(CLI::App& app, CommandLine& line) {
  Settings& settings = line.settings;
  app.add_option_function<std::string>(
         "--log-level",
         [&settings](const std::string& word) { settings.log_level = log_level_named(word); },
         "error, warning, info, debug or trace (info)")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"error", "warning", "info", "debug", "trace"}));
  app.add_option_function<std::string>(
         "--log-format",
         [&settings](const std::string& word) { settings.log_format = log_format_named(word); },
         "text or json (text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_flag("-V,--verbose", settings.verbosity, "log more; may be repeated");
}

// beanstalkd's meaning: -f 0 syncs before each reply; the last of -f and -F wins.
void add_sync_options(CLI::App& app, Settings& settings) {
  app.add_option_function<std::string>(
         "-f,--sync-interval",
         [&settings](const std::string& text) {
           const auto ms = scan_size(text);
           if (!ms) throw CLI::ValidationError("-f", fmt::format("'{}' is no number", text));
           settings.log_sync = *ms == 0 ? SyncPolicy::kAlways : SyncPolicy::kInterval;
           if (*ms == 0) return;
           settings.log_interval_ms = static_cast<std::uint32_t>(
               std::min<std::uint64_t>(*ms, std::numeric_limits<std::uint32_t>::max()));
         },
         "reply at once and sync the log within MS milliseconds; 0: sync before each reply (0)")
      ->type_name("MS")
      ->trigger_on_parse();
  app.add_flag_function(
         "-F,--never-sync", [&settings](std::int64_t) { settings.log_sync = SyncPolicy::kNoSync; },
         "reply at once and never sync the log")
      ->trigger_on_parse();
}

void add_log_options(CLI::App& app, CommandLine& line) {
  Settings& settings = line.settings;
  app.add_option("-b,--log-dir", settings.log_directory,
                 "keep jobs in a write-ahead log in DIR, which must exist")
      ->type_name("DIR")
      ->check(kNotEmpty);
  add_sync_options(app, settings);
  app.add_option_function<std::string>(
         "-s,--segment-size",
         [&settings](const std::string& text) {
           const auto bytes = scan_size(text);
           if (!bytes) throw CLI::ValidationError("-s", fmt::format("'{}' is no size", text));
           settings.log_segment_bytes = clamp_segment_bytes(*bytes, settings.notices);
         },
         "size of one file of the log (10485760)")
      ->type_name("BYTES");
  app.add_option(
         "--import-binlog", line.import_binlog,
         "take over the jobs of a beanstalkd's log in DIR into the empty log of -b, and exit")
      ->type_name("DIR")
      ->check(kNotEmpty);
  app.add_option("--check-log", line.check_log, "verify a stopped server's log in DIR, and exit")
      ->type_name("DIR")
      ->check(kNotEmpty);
  app.add_option("--dump-log", line.dump_log,
                 "print the records of a stopped server's log in DIR, and exit")
      ->type_name("DIR")
      ->check(kNotEmpty);
  app.add_flag("--json", line.as_json, "with --dump-log: print lines of JSON");
}

// beanstalkd ignores them too.
void add_ignored_options(CLI::App& app, CommandLine& line) {
  for (const char* letter : {"-c", "-n"}) {
    app.add_flag_function(
        letter,
        [&line, letter](std::int64_t) {
          line.settings.notices.push_back(fmt::format("{} is ignored, as beanstalkd does", letter));
        },
        "ignored");
  }
}

void add_process_options(CLI::App& app, CommandLine& line) {
  app.add_option("--config", line.config_file, "read settings from FILE (YAML); options win")
      ->type_name("FILE")
      ->check(kNotEmpty);
  app.add_flag("--check-config", line.check_config, "say whether settings are good, and exit");
  app.set_version_flag("-v,--version", std::string("xylemd " XYLEM_VERSION), "print the version");
  app.set_help_flag("-h,--help", "print this");
}

}  // namespace

std::variant<CommandLine, PrintAndExit> read_command_line(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("A work queue server that speaks the beanstalk protocol.", "xylemd");
  app.option_defaults()->take_last()->disable_flag_override();
  add_serving_options(app, line);
  add_logging_options(app, line);
  add_log_options(app, line);
  add_ignored_options(app, line);
  add_process_options(app, line);
  const auto misused = [&app](const char* complaint) {
    return PrintAndExit{.text = fmt::format("xylemd: {}\n{}", complaint, app.help()),
                        .to_stderr = true,
                        .exit_code = kUsageExit};
  };
  // To CLI11 it ends the options; there is nothing but options.
  if (std::ranges::find(argv, argv + argc, std::string_view("--")) != argv + argc) {
    return misused("-- is no option");
  }
  try {
    app.parse(argc, argv);
    if (line.settings.user == "")
      return PrintAndExit{.text = "xylemd: user '': there is no such user\n",
                          .to_stderr = true,
                          .exit_code = kNoSuchUser};
    return line;
  } catch (const CLI::CallForVersion&) {
    return PrintAndExit{.text = "xylemd " XYLEM_VERSION "\n"};
  } catch (const CLI::CallForHelp&) {
    return PrintAndExit{.text = app.help(), .to_stderr = true};
  } catch (const CLI::ParseError& wrong) {
    return misused(wrong.what());
  }
}

}  // namespace xylem
