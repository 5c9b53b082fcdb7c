// ping and version: is somebody there, and who; any server of the protocol can tell. drain and
// undrain: commands of xylemd.
#include <fmt/format.h>

#include <chrono>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using Clock = std::chrono::steady_clock;

Result<int> ping(Tool& tool) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  const Clock::time_point start = Clock::now();
  Result<Reply> reply = demand(connection.value(), "list-tube-used", "USING", "ping");
  if (!reply) return reply.error();
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  const std::string server = client::to_string(connection.value().address());
  tool.json ? tool.print_json({{"server", server}, {"milliseconds", ms}})
            : tool.print(fmt::format("{} answers in {:.3f} ms\n", server, ms));
  return kDone;
}

Result<int> version(Tool& tool) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<Reply> reply = demand(connection.value(), "stats", "OK", "stats");
  if (!reply) return reply.error();
  const Map stats = client::parse_map(reply.value().body);
  const std::string theirs(client::text_of(stats, "version"));
  const std::string server = client::to_string(connection.value().address());
  tool.json ? tool.print_json({{"xylem", XYLEM_VERSION}, {"server", server}, {"version", theirs}})
            : tool.print(fmt::format("xylem {}\n{} {}\n", XYLEM_VERSION, server, escaped(theirs)));
  return kDone;
}

// SIGUSR1 is all that other servers have, and there is no way back.
Result<int> set_draining(Tool& tool, std::string_view command, std::string_view word) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<bool> offered = offers(connection.value(), command);
  if (!offered) return offered.error();
  if (!offered.value()) {
    return not_offered(command, command == "drain" ? "; SIGUSR1 drains it" : "; restart it");
  }
  Result<Reply> reply = demand_change(connection.value(), command, word, command);
  if (!reply) return reply.error();
  if (tool.json) tool.print_json({{"draining", command == "drain"}});
  tool.confirm(command == "drain" ? "the server takes no new jobs" : "the server takes new jobs");
  return kDone;
}

}  // namespace

Run set_up_ping(CommandLine&) { return ping; }

Run set_up_version(CommandLine&) { return version; }

Run set_up_drain(CommandLine&) {
  return [](Tool& tool) { return set_draining(tool, "drain", "DRAINING"); };
}

Run set_up_undrain(CommandLine&) {
  return [](Tool& tool) { return set_draining(tool, "undrain", "NOT_DRAINING"); };
}

}  // namespace xylem::tool
