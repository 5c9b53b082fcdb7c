// ping and version: is somebody there, and who. Both need no more than any server of the protocol
// has.
#include <fmt/format.h>

#include <chrono>

#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

Result<int> ping(Tool& tool) {
  using Clock = std::chrono::steady_clock;
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

}  // namespace

Run set_up_ping(CLI::App&) { return ping; }

Run set_up_version(CLI::App&) { return version; }

}  // namespace xylem::tool
