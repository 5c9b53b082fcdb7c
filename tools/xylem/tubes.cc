// tubes: a table of all tubes, or of those that a glob matches; and how to fetch and sort them,
// which top does too.
#include "tubes.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "pipeline.h"
#include "subcommand.h"
#include "table.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::text_of;

struct TubesOptions {
  std::string glob = "*";
  std::string sort = "name";
};

// What a person sorts by, and the key that it stands for.
struct SortKey {
  std::string_view word;
  std::string_view key;
};
constexpr SortKey kSortKeys[] = {{"name", "name"},
                                 {"ready", "current-jobs-ready"},
                                 {"reserved", "current-jobs-reserved"},
                                 {"delayed", "current-jobs-delayed"},
                                 {"buried", "current-jobs-buried"},
                                 {"waiting", "current-waiting"},
                                 {"total", "total-jobs"}};

std::string to_table(const Tool& tool, const std::vector<Map>& tubes) {
  Table table({{"TUBE", false},
               {"READY"},
               {"RESERVED"},
               {"DELAYED"},
               {"BURIED"},
               {"WAITING"},
               {"USING"},
               {"WATCHING"},
               {"TOTAL"},
               {"PAUSE"}});
  for (const Map& tube : tubes) {
    std::vector<std::string> row{escaped(text_of(tube, "name"))};
    for (const std::string_view key :
         {"current-jobs-ready", "current-jobs-reserved", "current-jobs-delayed",
          "current-jobs-buried", "current-waiting", "current-using", "current-watching",
          "total-jobs"}) {
      row.push_back(escaped(text_of(tube, key)));
    }
    const std::uint64_t pause = number_of(tube, "pause-time-left");
    row.push_back(pause > 0 ? short_time(pause) : "-");
    table.add(std::move(row));
  }
  return table.text(tool);
}

Result<int> list_tubes(Tool& tool, const TubesOptions& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<bool> has_stats_tubes = offers(connection.value(), "stats-tubes");
  if (!has_stats_tubes) return has_stats_tubes.error();
  Result<std::vector<Map>> fetched = fetch_tubes(connection.value(), has_stats_tubes.value());
  if (!fetched) return fetched.error();
  std::vector<Map>& tubes = fetched.value();
  std::erase_if(tubes, [&options](const Map& tube) {
    return fnmatch(options.glob.c_str(), std::string(text_of(tube, "name")).c_str(), 0) != 0;
  });
  sort_tubes(tubes, std::ranges::find(kSortKeys, options.sort, &SortKey::word)->key);
  if (tool.json) {
    Json list = Json::array();
    for (const Map& tube : tubes) list.push_back(to_json(tube));
    tool.print_json(list);
  } else if (!tubes.empty()) {
    tool.print(to_table(tool, tubes));
  }
  return tubes.empty() ? kNothing : kDone;
}

}  // namespace

Result<std::vector<Map>> fetch_tubes(Connection& connection, bool has_stats_tubes) {
  if (has_stats_tubes) {
    Result<Reply> reply = demand(connection, "stats-tubes", "OK", "stats-tubes");
    if (!reply) return reply.error();
    return client::parse_rows(reply.value().body);
  }
  Result<Reply> names = demand(connection, "list-tubes", "OK", "list-tubes");
  if (!names) return names.error();
  std::vector<Map> tubes;
  Pipeline pipeline(connection, [&tubes](Reply&& reply) {
    if (reply.is("OK")) tubes.push_back(client::parse_map(reply.body));
  });
  for (const std::string& name : client::parse_list(names.value().body)) {
    connection.send("stats-tube " + name);
    if (auto done = pipeline.went(); !done) return done.error();
  }
  if (auto done = pipeline.drain(); !done) return done.error();
  return tubes;
}

void sort_tubes(std::vector<Map>& tubes, std::string_view key) {
  std::ranges::sort(tubes, {}, [](const Map& tube) { return text_of(tube, "name"); });
  if (key == "name") return;
  std::ranges::stable_sort(tubes, std::greater{},
                           [key](const Map& tube) { return number_of(tube, key); });
}

Run set_up_tubes(CommandLine& line) {
  auto options = std::make_shared<TubesOptions>();
  line.add_option("GLOB", options->glob, "only tubes that match: *, ?, [a-z]").type_name("");
  std::vector<std::string> words;
  for (const SortKey& each : kSortKeys) words.emplace_back(each.word);
  line.add_option("--sort", options->sort, "name, ready, reserved, delayed, buried, waiting, total")
      .one_of(words)
      .type_name("KEY");
  return [options](Tool& tool) { return list_tubes(tool, *options); };
}

}  // namespace xylem::tool
