// dump: every job as a line of JSON, tube by tube and in order: ready ones (and those that workers
// hold) by priority and id, delayed ones by the delay that is left, buried ones as they were
// buried. Without list-jobs the ids have to be named, and each is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "listing.h"
#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::text_of;

struct DumpOptions {
  std::vector<std::string> tubes;
  std::string ids;  // FROM-TO
};

struct Range {
  JobId from = 0;
  JobId to = 0;
};

constexpr std::array<std::string_view, 5> kCounters{"reserves", "timeouts", "releases", "buries",
                                                    "kicks"};

// All that a line says but the body. Those of a whole tube are held until they are in order, so a
// million of them have to be small.
struct Row {
  JobId id = 0;
  std::uint64_t age = 0;
  std::uint64_t time_left = 0;
  std::uint64_t bury_order = 0;
  std::uint32_t pri = 0;
  std::uint32_t ttr = 0;
  std::array<std::uint32_t, kCounters.size()> counters{};
  std::uint32_t state = 0;  // of kStates

  [[nodiscard]] std::string_view state_name() const { return kStates[state]; }
};

JobId id_of(const Row& row) { return row.id; }

Row to_row(const Map& map) {
  const auto small = [&map](std::string_view key) {
    return static_cast<std::uint32_t>(number_of(map, key));
  };
  Row row{.id = number_of(map, "id"),
          .age = number_of(map, "age"),
          .time_left = number_of(map, "time-left"),
          .bury_order = number_of(map, "bury-order"),
          .pri = small("pri"),
          .ttr = small("ttr")};
  std::ranges::transform(kCounters, row.counters.begin(), small);
  const auto state = std::ranges::find(kStates, text_of(map, "state"));
  row.state = state == kStates.end() ? 0 : static_cast<std::uint32_t>(state - kStates.begin());
  return row;
}

// Where a job stands among those of its tube.
auto place_of(const Row& row) {
  if (row.state_name() == "buried") return std::tuple(2, row.bury_order, row.id);
  if (row.state_name() == "delayed") return std::tuple(1, row.time_left, row.id);
  return std::tuple(0, std::uint64_t{row.pri}, row.id);
}

Json line_of(const std::string& tube, const Row& row, std::string_view body) {
  Json line{{"tube", tube},
            {"state", row.state_name()},
            {"pri", row.pri},
            {"delay", row.state_name() == "delayed" ? row.time_left : 0},
            {"ttr", row.ttr}};
  set_bytes(line, "body", body);
  line["id"] = row.id;
  line["age"] = row.age;
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    line[std::string(kCounters[i])] = row.counters[i];
  }
  return line;
}

class Dump {
 public:
  Dump(Tool& tool, Connection& connection) : tool_(tool), connection_(connection) {}

  Result<std::monostate> tube(const std::string& name, std::vector<Row> rows) {
    std::ranges::sort(rows, {}, place_of);
    auto done = with_bodies(connection_, rows, [&](const Row& row, const std::string& body) {
      tool_.print_json(line_of(name, row, body));
      progress_.show(++count_);
    });
    return done;
  }

  Result<std::monostate> all_of(const std::string& name) {
    std::vector<Row> rows;
    for (JobId after = 0;;) {
      Result<std::vector<Map>> page = list_page(connection_, name, "all", after, kPage);
      if (!page) return page.error();
      std::ranges::transform(page.value(), std::back_inserter(rows), to_row);
      if (page.value().size() < kPage) return tube(name, std::move(rows));
      after = rows.back().id;
    }
  }

  // By stats-job of each id; `tubes` empty: whatever tube it is in.
  Result<std::monostate> range(const Range& range, const std::vector<std::string>& tubes) {
    std::map<std::string, std::vector<Row>> by_tube;
    Pipeline pipeline(connection_, [&](Reply&& reply) {
      if (!reply.is("OK")) return;
      const Map map = client::parse_map(reply.body);
      by_tube[std::string(text_of(map, "tube"))].push_back(to_row(map));
    });
    for (JobId id = std::max<JobId>(range.from, 1); id <= range.to && id != 0; ++id) {
      connection_.send(fmt::format("stats-job {}", id));
      if (auto done = pipeline.went(); !done) return done;
    }
    if (auto done = pipeline.drain(); !done) return done;
    for (auto& [name, rows] : by_tube) {
      if (!tubes.empty() && std::ranges::find(tubes, name) == tubes.end()) continue;
      if (auto done = tube(name, std::move(rows)); !done) return done;
    }
    return std::monostate{};
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Tool& tool_;
  Connection& connection_;
  std::uint64_t count_ = 0;
  Progress progress_{tool_, "dumped", tool_.to_terminal()};
};

Result<std::monostate> dump_tubes(Tool& tool, Connection& connection, const DumpOptions& options,
                                  Dump& dump) {
  std::vector<std::string> tubes = options.tubes;
  if (tubes.empty()) {
    Result<Reply> reply = demand(connection, "list-tubes", "OK", "list-tubes");
    if (!reply) return reply.error();
    tubes = client::parse_list(reply.value().body);
    std::ranges::sort(tubes);
  }
  for (const std::string& tube : tubes) {
    auto done = dump.all_of(tube);
    if (!done) return done;
    if (!tool.can_print()) break;
  }
  return std::monostate{};
}

// Of the tubes that were named: whether each is there.
Result<bool> complain_of_missing(Tool& tool, Connection& connection,
                                 const std::vector<std::string>& tubes) {
  bool all_there = true;
  for (const std::string& tube : tubes) {
    const Result<Reply> stats = demand(connection, "stats-tube " + tube, "OK", "tube " + tube);
    if (stats) continue;
    if (stats.error().exit_code != kNothing) return stats.error();
    tool.complain(stats.error().text);
    all_there = false;
  }
  return all_there;
}

std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto from = parse_number(text.substr(0, dash));
  const auto to = parse_number(dash == std::string_view::npos ? text : text.substr(dash + 1));
  if (!from || !to || *from > *to) return std::nullopt;
  return Range{*from, *to};
}

Result<int> dump_jobs(Tool& tool, const DumpOptions& options) {
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<bool> offered = offers(connection.value(), "list-jobs");
  if (!offered) return offered.error();
  if (!offered.value() && options.ids.empty()) {
    return not_offered("list-jobs", ": name the ids, as in xylem dump --ids 1-5000");
  }
  Result<bool> all_there = complain_of_missing(tool, connection.value(), options.tubes);
  if (!all_there) return all_there.error();
  Dump dump(tool, connection.value());
  const auto range = parse_range(options.ids);
  const auto done = range ? dump.range(*range, options.tubes)
                          : dump_tubes(tool, connection.value(), options, dump);
  if (!done) {
    return Error{.text = fmt::format("{} dumped, not all; then: {}", counted(dump.count(), "job"),
                                     done.error().text),
                 .exit_code = done.error().exit_code};
  }
  if (range && !offered.value()) {
    tool.complain("this server does not tell in which order jobs were buried: they are by id");
  }
  return dump.count() > 0 && all_there.value() ? kDone : kNothing;
}

}  // namespace

Run set_up_dump(CommandLine& line) {
  auto options = std::make_shared<DumpOptions>();
  line.add_option("TUBE", options->tubes, "the tubes (all)").check(check_tube).type_name("");
  line.add_option("--ids", options->ids, "only jobs of these ids; for a server without list-jobs")
      .check([](const std::string& text) {
        return parse_range(text) ? "" : "write FROM-TO, as in 1-5000";
      })
      .type_name("FROM-TO");
  return [options](Tool& tool) { return dump_jobs(tool, *options); };
}

}  // namespace xylem::tool
