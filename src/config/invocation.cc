// What main does with its command line: run, or print something and exit. SIGHUP comes here again,
// with the same command line and perhaps another file.
#include <fmt/format.h>

#include "config/settings.h"

namespace xylem {
namespace {

Result<Config> load(const CommandLine& line) {
  Settings file;
  if (!line.config_file.empty()) {
    Result<Settings> read = read_file(line.config_file);
    if (!read) return read.error();
    file = std::move(read).value();
  }
  Result<Config> config = merge(file, line.settings);
  if (config) config.value().config_file = line.config_file;
  return config;
}

// What --check-config says.
std::string good(const Config& config) {
  std::string text;
  for (const std::string& notice : config.notices) text += "xylemd: warning: " + notice + "\n";
  return text + "xylemd: the settings are good\n";
}

}  // namespace

Invocation parse_invocation(int argc, const char* const* argv) {
  auto line = read_command_line(argc, argv);
  if (auto* instead = std::get_if<PrintAndExit>(&line)) return *instead;
  const auto& given = std::get<CommandLine>(line);
  if (!given.check_log.empty()) return CheckLog{given.check_log};
  if (!given.dump_log.empty()) return DumpLog{given.dump_log, given.as_json};
  Result<Config> config = load(given);
  if (!config) {
    return PrintAndExit{.text = fmt::format("xylemd: {}\n", config.error().text),
                        .to_stderr = true,
                        .exit_code = config.error().exit_code};
  }
  if (given.check_config) return PrintAndExit{.text = good(config.value())};
  if (!given.import_binlog.empty()) {
    if (config.value().log_directory.empty()) {
      return PrintAndExit{.text = "xylemd: --import-binlog needs -b DIR, the log to import into\n",
                          .to_stderr = true,
                          .exit_code = 5};
    }
    return ImportBinlog{std::move(config).value(), given.import_binlog};
  }
  return Run{std::move(config).value()};
}

Result<Config> reload_config(int argc, const char* const* argv) {
  auto line = read_command_line(argc, argv);
  if (const auto* instead = std::get_if<PrintAndExit>(&line)) return Error{instead->text, 5};
  return load(std::get<CommandLine>(line));
}

}  // namespace xylem
