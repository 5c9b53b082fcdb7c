// log: reads the log directory of a stopped server, by the same code as `xylemd --check-log` and
// --dump-log. bench: becomes xylem-bench, the load generator, which is a program of its own.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "subcommand.h"
#include "xylem/storage/check_log.h"
#include "xylem/storage/posix_disk.h"

namespace xylem::tool {
namespace {

struct LogOptions {
  std::string action;
  std::string folder;
};

Error in_out(Error error) { return {.text = std::move(error.text), .exit_code = kInOut}; }

Result<int> read_log(Tool& tool, const LogOptions& options) {
  auto directory = open_stopped(options.folder);
  if (!directory) return in_out(directory.error());
  const DumpFormat format = tool.json ? DumpFormat::kJson : DumpFormat::kText;
  if (options.action == "dump") {
    const auto done = dump_log(*directory.value().files, format, stdout);
    return done ? Result<int>(kDone) : in_out(done.error());
  }
  Result<bool> sound = check_log(*directory.value().files, format, stdout);
  if (!sound) return in_out(sound.error());
  if (!sound.value()) return Error{.text = "the log is damaged", .exit_code = kInOut};
  return kDone;
}

// Beside this program, or else in the PATH.
std::string bench_program() {
  std::error_code none;
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "xylem-bench";
  return std::filesystem::exists(beside, none) ? beside.string() : "xylem-bench";
}

Result<int> bench(const Tool& tool, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{bench_program(), tool.server};
  if (tool.json) words.emplace_back("--json");
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  return Error{.text = fmt::format("cannot run xylem-bench: {}", std::strerror(errno)),
               .exit_code = kInOut};
}

}  // namespace

Run set_up_log(CommandLine& line) {
  auto options = std::make_shared<LogOptions>();
  line.add_option("check|dump", options->action, "verify every record, or print a line for each")
      .required()
      .one_of({"check", "dump"})
      .type_name("");
  line.add_option("DIR", options->folder, "the log directory of a stopped server")
      .required()
      .type_name("");
  return [options](Tool& tool) { return read_log(tool, *options); };
}

Run set_up_bench(CommandLine& line) {
  auto arguments = std::make_shared<std::vector<std::string>>();
  line.take_rest(*arguments);
  return [arguments](Tool& tool) { return bench(tool, *arguments); };
}

}  // namespace xylem::tool
