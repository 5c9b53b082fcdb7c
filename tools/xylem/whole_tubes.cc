// kick, pause and resume: one command of the protocol each, on a whole tube. `kick TUBE all` is one
// command too, with the largest bound that there is.
#include <fmt/format.h>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

struct KickOptions {
  std::string tube;
  std::uint32_t bound = 1;
};

Result<int> kick(Tool& tool, const KickOptions& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> used = demand(connection.value(), "use " + options.tube, "USING", "use");
  if (!used) return used.error();
  Result<Reply> reply =
      demand_change(connection.value(), fmt::format("kick {}", options.bound), "KICKED", "kick");
  if (!reply) return reply.error();
  const std::uint64_t count = reply.value().number();
  if (tool.json) tool.print_json({{"tube", options.tube}, {"kicked", count}});
  tool.confirm(fmt::format("{} kicked", counted(count, "job")));
  return count > 0 ? kDone : kNothing;
}

struct PauseOptions {
  std::string tube;
  std::uint32_t seconds = 0;
};

Result<int> pause(Tool& tool, const PauseOptions& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> reply = demand_change(
      connection.value(), fmt::format("pause-tube {} {}", options.tube, options.seconds), "PAUSED",
      "tube " + options.tube);
  if (!reply) return reply.error();
  if (tool.json) tool.print_json({{"tube", options.tube}, {"pause", options.seconds}});
  tool.confirm(options.seconds > 0
                   ? fmt::format("{} paused for {} s", options.tube, options.seconds)
                   : fmt::format("{} resumed", options.tube));
  return kDone;
}

std::uint32_t parse_bound(const std::string& text) {
  if (text == "all") return std::numeric_limits<std::uint32_t>::max();
  const std::optional<std::uint64_t> number = parse_number(text);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
    refuse("N", fmt::format("'{}' is neither a number nor 'all'", text));
  }
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Run set_up_kick(CommandLine& line) {
  auto options = std::make_shared<KickOptions>();
  add_tube(line, options->tube);
  line.add_option_function(
          "N", [options](const std::string& text) { options->bound = parse_bound(text); },
          "how many at most, or all (1)")
      .type_name("");
  return [options](Tool& tool) { return kick(tool, *options); };
}

Run set_up_pause(CommandLine& line) {
  auto options = std::make_shared<PauseOptions>();
  add_tube(line, options->tube);
  add_seconds(line, "TIME", options->seconds, "90s, 15m, 2h, 1d").required().type_name("");
  return [options](Tool& tool) { return pause(tool, *options); };
}

Run set_up_resume(CommandLine& line) {
  auto options = std::make_shared<PauseOptions>();
  add_tube(line, options->tube);
  return [options](Tool& tool) { return pause(tool, *options); };
}

}  // namespace xylem::tool
