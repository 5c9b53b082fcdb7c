// From figures to rows, and from rows to lines. No line takes more columns than the terminal has;
// every text of a server's is escaped. The lines that are left out above the selected one follow
// from it, so no offset is kept that could point behind the end.
#include <fmt/format.h>

#include <algorithm>

#include "text.h"
#include "top.h"

namespace xylem::tool {
namespace {

using client::number_of;
using client::text_of;

constexpr std::size_t kMostPoints = 60;
constexpr std::size_t kHeadLines = 5;

std::string sparkline(const std::deque<double>& points, std::size_t width) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t count = std::min(points.size(), width);
  const auto from = points.end() - static_cast<std::ptrdiff_t>(count);
  const double most = count > 0 ? *std::max_element(from, points.end()) : 0;
  std::string line;
  for (auto each = from; each != points.end(); ++each) {
    line += kBars[most > 0 ? static_cast<std::size_t>(*each / most * 7) : 0];
  }
  return line;
}

std::string head(const Picture& picture, const Size& size) {
  const Map& stats = picture.stats;
  const auto count = [&stats](std::string_view key) {
    return short_number(static_cast<double>(number_of(stats, key)));
  };
  std::string text = excerpt(
      fmt::format("xylem top  {}  version {}  up {}  {} connections  {} waiting", picture.server,
                  text_of(stats, "version"), short_time(number_of(stats, "uptime")),
                  count("current-connections"), count("current-waiting")),
      size.columns);
  text += "\n" + excerpt(fmt::format("ready {}  reserved {}  delayed {}  buried {}  tubes {}{}",
                                     count("current-jobs-ready"), count("current-jobs-reserved"),
                                     count("current-jobs-delayed"), count("current-jobs-buried"),
                                     count("current-tubes"),
                                     text_of(stats, "draining") == "true" ? "  DRAINING" : ""),
                         size.columns);
  const std::string rates = fmt::format("put {}/s  deleted {}/s  ", short_number(picture.puts),
                                        short_number(picture.deletes));
  const std::size_t left = size.columns - std::min(size.columns, rates.size());
  return text + "\n" + rates + sparkline(picture.throughput, left) + "\n\n";
}

std::string tube_line(const TubeRow& row, std::size_t width) {
  const std::size_t name_width = std::max<std::size_t>(width, 70) - 58;
  const std::string name = excerpt(text_of(row.stats, "name"), name_width);
  std::string line = name + std::string(name_width - width_of(name), ' ');
  for (const std::string_view key :
       {"current-jobs-ready", "current-jobs-reserved", "current-jobs-delayed",
        "current-jobs-buried", "current-waiting"}) {
    line += fmt::format(" {:>7}", short_number(static_cast<double>(number_of(row.stats, key))));
  }
  const std::uint64_t pause = number_of(row.stats, "pause-time-left");
  return line + fmt::format(" {:>5} {:>5} {:>5}", short_number(row.puts), short_number(row.deletes),
                            pause > 0 ? short_time(pause) : "-");
}

std::string tube_titles(std::size_t width) {
  const std::size_t name_width = std::max<std::size_t>(width, 70) - 58;
  return fmt::format("{:<{}} {:>7} {:>7} {:>7} {:>7} {:>7} {:>5} {:>5} {:>5}", "TUBE", name_width,
                     "READY", "RESERV", "DELAY", "BURIED", "WAIT", "PUT/s", "DEL/s", "PAUSE");
}

std::string job_line(const Map& job, std::size_t width) {
  const std::string line =
      fmt::format("{:>10} {:<8} {:>10} {:>5} {:>5} {:>4}  ", text_of(job, "id"),
                  text_of(job, "state"), text_of(job, "pri"), short_time(number_of(job, "age")),
                  short_time(number_of(job, "time-left")), text_of(job, "reserves"));
  return excerpt(line + std::string(text_of(job, "excerpt")), width);
}

constexpr std::string_view kJobTitles = "        ID STATE           PRI   AGE  LEFT  RES  BODY";

// Line by line with the selected one reversed, as many as fit.
template <class Rows, class Line>
std::string list(const Rows& rows, std::size_t selected, std::size_t room, Line line) {
  std::string text;
  const std::size_t first = selected < room ? 0 : selected - room + 1;
  for (std::size_t i = first; i < rows.size() && i < first + room; ++i) {
    text += i == selected ? "\x1b[7m" + line(rows[i]) + "\x1b[0m\n" : line(rows[i]) + "\n";
  }
  return text;
}

std::uint64_t sort_key(const TubeRow& row, std::size_t sort) {
  switch (sort) {
    case 1:
      return number_of(row.stats, "current-jobs-ready");
    case 2:
      return number_of(row.stats, "current-jobs-buried");
    case 3:
      return static_cast<std::uint64_t>(row.puts * 1'000);
    case 4:
      return static_cast<std::uint64_t>(row.deletes * 1'000);
    default:
      return 0;
  }
}

std::string_view name_of(const TubeRow& row) { return text_of(row.stats, "name"); }
std::string_view name_of(const Map& job) { return text_of(job, "id"); }

template <class Row>
void select_row(Selection& selection, const std::vector<Row>& rows, std::size_t row) {
  selection.row = std::min(row, std::max<std::size_t>(rows.size(), 1) - 1);
  selection.name = rows.empty() ? "" : name_of(rows[selection.row]);
}

template <class Row>
void settle(Selection& selection, const std::vector<Row>& rows) {
  const auto found = std::ranges::find_if(
      rows, [&selection](const Row& row) { return name_of(row) == selection.name; });
  const bool gone = found == rows.end();
  select_row(selection, rows,
             gone ? selection.row : static_cast<std::size_t>(found - rows.begin()));
}

template <class Row>
void step_from(Selection& selection, const std::vector<Row>& rows, int step) {
  if (step < 0 && selection.row == 0) return;
  select_row(selection, rows, step < 0 ? selection.row - 1 : selection.row + 1);
}

}  // namespace

void Rates::take(Picture& picture, Map stats, std::vector<Map> tubes) {
  const auto now = std::chrono::steady_clock::now();
  const double seconds = std::chrono::duration<double>(now - at_).count();
  const bool first = before_.empty();
  std::map<std::string, Totals, std::less<>> totals;
  picture.stats = std::move(stats);
  picture.tubes.clear();
  picture.puts = picture.deletes = 0;
  for (Map& tube : tubes) {
    const Totals total{number_of(tube, "total-jobs"), number_of(tube, "cmd-delete")};
    const std::string name(text_of(tube, "name"));
    TubeRow row{.stats = std::move(tube)};
    const auto found = before_.find(name);
    const Totals before = found == before_.end() ? Totals{} : found->second;
    if (!first && total.put >= before.put && total.deleted >= before.deleted) {
      row.puts = static_cast<double>(total.put - before.put) / seconds;
      row.deletes = static_cast<double>(total.deleted - before.deleted) / seconds;
    }
    picture.puts += row.puts;
    picture.deletes += row.deletes;
    totals.emplace(name, total);
    picture.tubes.push_back(std::move(row));
  }
  if (!first) picture.throughput.push_back(picture.deletes);
  if (picture.throughput.size() > kMostPoints) picture.throughput.pop_front();
  before_ = std::move(totals);
  at_ = now;
  sort_rows(picture);
}

void sort_rows(Picture& picture) {
  std::ranges::sort(picture.tubes, {}, [](const TubeRow& row) { return name_of(row); });
  if (picture.sort != 0) {
    std::ranges::stable_sort(picture.tubes, std::greater{}, [&picture](const TubeRow& row) {
      return sort_key(row, picture.sort);
    });
  }
  settle(picture.selected_tube, picture.tubes);
}

void take_jobs(Picture& picture, std::vector<Map> jobs) {
  picture.jobs = std::move(jobs);
  settle(picture.selected_job, picture.jobs);
}

void move_selection(Picture& picture, int step) {
  if (picture.tube.empty()) {
    step_from(picture.selected_tube, picture.tubes, step);
  } else {
    step_from(picture.selected_job, picture.jobs, step);
  }
}

std::string draw(const Picture& picture, const Size& size) {
  const std::size_t room = std::max(size.rows, kHeadLines + 3) - kHeadLines - 1;
  std::string text = head(picture, size);
  std::string keys;
  if (picture.tube.empty()) {
    text += excerpt(tube_titles(size.columns), size.columns) + "\n";
    text += list(picture.tubes, picture.selected_tube.row, room, [&size](const TubeRow& row) {
      return excerpt(tube_line(row, size.columns), size.columns);
    });
    keys = fmt::format("q quit  s sort ({})  p pause/resume  k kick all  enter jobs",
                       kSorts[picture.sort]);
  } else {
    text += excerpt(kJobTitles, size.columns) + "\n";
    text += list(picture.jobs, picture.selected_job.row, room,
                 [&size](const Map& job) { return job_line(job, size.columns); });
    const bool there = std::ranges::find(picture.tubes, picture.tube, [](const TubeRow& row) {
                         return name_of(row);
                       }) != picture.tubes.end();
    keys = picture.lists_jobs ? fmt::format("tube {}{}: q quit  escape back", picture.tube,
                                            there ? "" : " (not there now)")
                              : "this server has no list-jobs command; escape goes back";
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  text += std::string(size.rows - std::min(size.rows, lines + 1), '\n');
  return text + excerpt(picture.message.empty() ? keys : picture.message, size.columns);
}

}  // namespace xylem::tool
