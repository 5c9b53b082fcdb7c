// ls: the jobs of a tube with a glimpse of their bodies. The walk goes by id; with --match it goes
// on until enough have been found.
#include <fmt/format.h>

#include "listing.h"
#include "subcommand.h"
#include "table.h"
#include "text.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::text_of;

struct LsOptions {
  std::string tube;
  std::string state = "all";
  std::string match;
  std::uint32_t count = 100;
  JobId after = 0;
};

constexpr std::size_t kExcerpt = 32;

class Rows {
 public:
  explicit Rows(const Tool& tool) : json_(tool.json) {}

  void add(const Map& row, std::string_view body) {
    ++count_;
    if (json_) {
      Json object = to_json(row);
      set_bytes(object, "excerpt", front(body, kExcerpt));
      list_.push_back(std::move(object));
      return;
    }
    std::vector<std::string> cells;
    for (const std::string_view key : {"id", "state", "pri"}) {
      cells.push_back(escaped(text_of(row, key)));
    }
    for (const std::string_view key : {"age", "time-left", "ttr"}) {
      cells.push_back(short_time(number_of(row, key)));
    }
    for (const std::string_view key :
         {"size", "reserves", "timeouts", "releases", "buries", "kicks"}) {
      cells.push_back(escaped(text_of(row, key)));
    }
    cells.push_back(excerpt(body, kExcerpt));
    table_.add(std::move(cells));
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }

  void print(Tool& tool) const {
    if (json_) return tool.print_json(list_);
    if (count_ > 0) tool.print(table_.text(tool));
  }

 private:
  bool json_;
  std::uint32_t count_ = 0;
  Json list_ = Json::array();
  Table table_{{{"ID"},
                {"STATE", false},
                {"PRI"},
                {"AGE"},
                {"LEFT"},
                {"TTR"},
                {"SIZE"},
                {"RES"},
                {"TMO"},
                {"REL"},
                {"BUR"},
                {"KCK"},
                {"BODY", false}}};
};

Result<std::monostate> collect(Connection& connection, const LsOptions& options, Rows& rows) {
  JobId after = options.after;
  while (rows.count() < options.count) {
    const std::uint32_t wanted = options.match.empty() ? options.count - rows.count() : kPage;
    Result<std::vector<Map>> page =
        list_page(connection, options.tube, options.state, after, std::min(wanted, kPage));
    if (!page) return page.error();
    if (page.value().empty()) break;
    after = number_of(page.value().back(), "id");
    auto done = with_bodies(connection, page.value(), [&](const Map& row, const std::string& body) {
      const bool matches = body.find(options.match) != std::string::npos;
      if (matches && rows.count() < options.count) rows.add(row, body);
    });
    if (!done) return done;
  }
  return std::monostate{};
}

Result<int> list_jobs(Tool& tool, const LsOptions& options) {
  Result<Connection> connection = tool.connect();
  if (!connection) return connection.error();
  Result<bool> offered = offers(connection.value(), "list-jobs");
  if (!offered) return offered.error();
  if (!offered.value()) {
    return not_offered("list-jobs",
                       fmt::format("; xylem peek {} shows the first job of a state", options.tube));
  }
  Rows rows(tool);
  if (auto done = collect(connection.value(), options, rows); !done) return done.error();
  if (rows.count() == 0) {
    Result<Reply> stats =
        demand(connection.value(), "stats-tube " + options.tube, "OK", "tube " + options.tube);
    if (!stats) return stats.error();
  }
  rows.print(tool);
  return rows.count() > 0 ? kDone : kNothing;
}

}  // namespace

Result<std::vector<Map>> list_page(Connection& connection, const std::string& tube,
                                   std::string_view state, JobId after, std::uint32_t count) {
  Result<Reply> reply =
      connection.ask(fmt::format("list-jobs {} {} {} {}", tube, state, after, count));
  if (!reply) return reply.error();
  if (reply.value().is("NOT_FOUND")) return std::vector<Map>{};
  if (!reply.value().is("OK")) return refusal(reply.value(), "list-jobs");
  return client::parse_rows(reply.value().body);
}

Run set_up_ls(CommandLine& line) {
  auto options = std::make_shared<LsOptions>();
  add_tube(line, options->tube);
  line.add_option("--state", options->state, "ready, reserved, delayed or buried (all)")
      .one_of({"ready", "reserved", "delayed", "buried", "all"})
      .type_name("STATE");
  line.add_option("--match", options->match, "only jobs whose body has this text")
      .type_name("TEXT");
  add_number(line, "-n,--count", "how many at most (100)", {1, 1'000'000'000},
             [options](std::uint64_t n) { options->count = static_cast<std::uint32_t>(n); })
      .type_name("N");
  add_number(line, "--after", "only jobs of a higher id", kAnyId, [options](std::uint64_t id) {
    options->after = id;
  }).type_name("ID");
  return [options](Tool& tool) { return list_jobs(tool, *options); };
}

}  // namespace xylem::tool
