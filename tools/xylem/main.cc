// xylem: the command that operators and scripts live in. This file joins the tables of subcommands
// into one command line, runs what was chosen, and turns an Error into a line and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "subcommand.h"
#include "text.h"

namespace {

using namespace xylem;
using namespace xylem::tool;

// The whole of it on one screen of 80x24.
std::string short_help(const CLI::App*, std::string, CLI::AppFormatMode) {
  std::string text =
      "xylem: look after a work queue that speaks the beanstalk protocol\n\n"
      "  xylem COMMAND [ARG...]        xylem COMMAND --help explains it, with examples\n\n";
  for (const Group& group : groups()) {
    std::string line = fmt::format("  {:<14}", group.title);
    for (const Subcommand& each : group.subcommands) line += fmt::format(" {}", each.name);
    text += line + "\n";
  }
  text +=
      "\n  -H, --server SERVER   HOST:PORT or unix:PATH (XYLEM_SERVER or 127.0.0.1:11300)\n"
      "  --json                print data as JSON\n"
      "  --version             print the version of xylem\n\n"
      "An all-digit word is a job id; -t names a tube. Times: 90s, 15m, 2h, 1d.\n\nExit codes:\n";
  for (const ExitCode& each : kExitCodes)
    text += fmt::format("  {:<4} {}\n", each.code, each.meaning);
  return text;
}

void add_common(CLI::App& app, Tool& tool) {
  app.add_option("-H,--server", tool.server, "HOST:PORT or unix:PATH")->type_name("SERVER");
  app.add_flag("--json", tool.json, "print data as JSON");
}

std::string examples_of(const Subcommand& subcommand) {
  std::string text = "Examples:\n";
  for (std::string_view left = subcommand.examples; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    text += fmt::format("  {}\n", line);
    left.remove_prefix(std::min(left.size(), line.size() + 1));
  }
  return text;
}

// The choices in the order of the tables, each with what runs it.
struct Choice {
  CLI::App* app;
  Run run;
};

std::deque<Choice> add_subcommands(CLI::App& app, Tool& tool) {
  std::deque<Choice> choices;
  for (const Group& group : groups()) {
    for (const Subcommand& each : group.subcommands) {
      CLI::App* sub = app.add_subcommand(std::string(each.name), std::string(each.help));
      CommandLine line(*sub);
      choices.push_back({sub, each.set_up(line)});
      if (!sub->get_prefix_command()) add_common(*sub, tool);
      sub->footer(examples_of(each));
    }
  }
  return choices;
}

int run(const Choice& choice, Tool& tool) {
  Result<int> ended = choice.run(tool);
  if (ended) return tool.finish(ended.value());
  tool.complain(ended.error().text);
  return tool.finish(ended.error().exit_code);
}

// The command that work is to run is none of CLI11's business.
void split_off_command(std::vector<std::string>& words, Tool& tool) {
  auto name = words.begin();
  while (name != words.end() && name->starts_with('-')) {
    name +=
        *name == "-H" || *name == "--server" ? std::min<std::ptrdiff_t>(2, words.end() - name) : 1;
  }
  const auto dashes = std::find(name, words.end(), "--");
  if (name == words.end() || *name != "work" || dashes == words.end()) return;
  tool.command.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
}

int usage(const CLI::App& app, const CLI::ParseError& error, Tool& tool) {
  if (error.get_exit_code() == 0) return tool.finish(app.exit(error));
  tool.complain(escaped(error.what()));
  return kUsage;
}

// A descriptor that was closed would be given to the next thing that is opened, such as a socket,
// which then were read or written as if it were ours. What stands in its place fails as it did.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    static_cast<void>(open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  Tool tool;
  std::vector<std::string> words(argv + 1, argv + argc);
  split_off_command(words, tool);
  CLI::App app("", "xylem");
  app.require_subcommand(0, 1);  // one at most: a tube may be called "stats"
  app.set_version_flag("--version", "xylem " XYLEM_VERSION);
  add_common(app, tool);
  const std::deque<Choice> choices = add_subcommands(app, tool);
  app.formatter_fn(short_help);
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return usage(app, error, tool);
  }
  const auto chosen =
      std::ranges::find_if(choices, [](const Choice& choice) { return choice.app->parsed(); });
  if (chosen == choices.end()) {
    to_stderr(app.help());
    return kUsage;
  }
  return run(*chosen, tool);
}
