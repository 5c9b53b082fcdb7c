// dump: every job as a line of JSON, tube by tube and in order: ready ones (and those that workers
// hold) by priority and id, delayed ones by the delay that is left, buried ones as they were
// buried. Without list-jobs the ids have to be named, and each is asked for.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "listing.h"
#include "progress.h"
#include "subcommand.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::text_of;

struct Options {
  std::vector<std::string> tubes;
  std::string ids;  // FROM-TO
};

struct Range {
  JobId from = 0;
  JobId to = 0;
};

// Where a job stands among those of its tube.
auto place_of(const Map& row) {
  const std::string_view state = text_of(row, "state");
  const std::uint64_t id = number_of(row, "id");
  if (state == "buried") return std::tuple(2, number_of(row, "bury-order"), id);
  if (state == "delayed") return std::tuple(1, number_of(row, "time-left"), id);
  return std::tuple(0, number_of(row, "pri"), id);
}

Json line_of(const std::string& tube, const Map& row, std::string_view body) {
  const bool delayed = text_of(row, "state") == "delayed";
  Json line{{"tube", tube},
            {"state", text_of(row, "state")},
            {"pri", number_of(row, "pri")},
            {"delay", delayed ? number_of(row, "time-left") : 0},
            {"ttr", number_of(row, "ttr")}};
  set_body(line, body);
  for (const std::string_view key :
       {"id", "age", "reserves", "timeouts", "releases", "buries", "kicks"}) {
    line[key] = number_of(row, key);
  }
  return line;
}

class Dump {
 public:
  Dump(Tool& tool, Connection& connection) : tool_(tool), connection_(connection) {}

  Result<std::monostate> tube(const std::string& name, std::vector<Map> rows) {
    std::ranges::sort(rows, {}, place_of);
    auto done = with_bodies(connection_, rows, [&](const Map& row, const std::string& body) {
      tool_.print_json(line_of(name, row, body));
      progress_.show(++count_);
    });
    return done;
  }

  Result<std::monostate> all_of(const std::string& name) {
    std::vector<Map> rows;
    for (JobId after = 0;;) {
      Result<std::vector<Map>> page = list_page(connection_, name, "all", after, kPage);
      if (!page) return page.error();
      if (page.value().empty()) return tube(name, std::move(rows));
      after = number_of(page.value().back(), "id");
      std::ranges::move(page.value(), std::back_inserter(rows));
    }
  }

  // By stats-job of each id; `tubes` empty: whatever tube it is in.
  Result<std::monostate> range(const Range& range, const std::vector<std::string>& tubes) {
    std::vector<Map> rows;
    Pipeline pipeline(connection_, [&](Reply&& reply) {
      if (reply.is("OK")) rows.push_back(client::parse_map(reply.body));
    });
    for (JobId id = range.from; id <= range.to && id != 0; ++id) {
      connection_.send(fmt::format("stats-job {}", id));
      if (auto done = pipeline.went(); !done) return done;
    }
    if (auto done = pipeline.drain(); !done) return done;
    const auto tube_of = [](const Map& row) { return text_of(row, "tube"); };
    std::ranges::stable_sort(rows, {}, tube_of);
    for (auto from = rows.begin(); from != rows.end();) {
      const std::string name(tube_of(*from));
      const auto to = std::ranges::find_if_not(
          from, rows.end(), [&name](std::string_view other) { return other == name; }, tube_of);
      const bool wanted = tubes.empty() || std::ranges::find(tubes, name) != tubes.end();
      auto done = wanted ? tube(name, {from, to}) : std::monostate{};
      if (!done) return done;
      from = to;
    }
    return std::monostate{};
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Tool& tool_;
  Connection& connection_;
  std::uint64_t count_ = 0;
  Progress progress_{tool_, "dumped"};
};

Result<std::monostate> dump_tubes(Tool& tool, Connection& connection, const Options& options,
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

std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto from = parse_number(text.substr(0, dash));
  const auto to = parse_number(dash == std::string_view::npos ? text : text.substr(dash + 1));
  if (!from || !to || *from > *to) return std::nullopt;
  return Range{*from, *to};
}

Result<int> dump_jobs(Tool& tool, const Options& options) {
  tool.catch_interrupts();
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<bool> offered = offers(connection.value(), "list-jobs");
  if (!offered) return offered.error();
  if (!offered.value() && options.ids.empty()) {
    return not_offered("list-jobs", ": name the ids, as in xylem dump --ids 1-5000");
  }
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
  return dump.count() > 0 ? kDone : kNothing;
}

}  // namespace

Run set_up_dump(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("TUBE", options->tubes, "the tubes (all)")->check(check_tube)->type_name("");
  app.add_option("--ids", options->ids, "only jobs of these ids; for a server without list-jobs")
      ->check([](const std::string& text) {
        return parse_range(text) ? "" : "write FROM-TO, as in 1-5000";
      })
      ->type_name("FROM-TO");
  return [options](Tool& tool) { return dump_jobs(tool, *options); };
}

}  // namespace xylem::tool
