// top: what it knows (Picture) and how that looks (draw), apart from the terminal and the server. A
// picture is made from two looks at the server; rates are the difference over the time between.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "terminal.h"
#include "tool.h"

namespace xylem::tool {

struct TubeRow {
  Map stats;
  double puts = 0;     // a second
  double deletes = 0;  // a second
};

// The selected row of a list. It is held by its name (of a tube) or id (of a job) and goes where
// that goes; when that is gone, the row that stands in its place now is selected. After settle()
// row and name agree; an empty list has no name.
struct Selection {
  std::string name;
  std::size_t row = 0;
};

struct Picture {
  std::string server;
  Map stats;
  std::vector<TubeRow> tubes;
  std::deque<double> throughput;  // jobs deleted a second, the newest last
  double puts = 0;
  double deletes = 0;
  std::string tube;        // drilled into; empty: all tubes
  bool lists_jobs = true;  // whether the server can
  std::vector<Map> jobs;   // of that tube, each with its excerpt
  Selection selected_tube;
  Selection selected_job;
  std::size_t sort = 0;
  std::string message;  // the last line, in place of the keys
};

inline constexpr std::string_view kSorts[] = {"name", "ready", "buried", "puts", "deletes"};

// Takes a new look into the picture.
class Rates {
 public:
  void take(Picture& picture, Map stats, std::vector<Map> tubes);

 private:
  struct Totals {
    std::uint64_t put = 0;
    std::uint64_t deleted = 0;
  };
  std::map<std::string, Totals, std::less<>> before_;
  std::chrono::steady_clock::time_point at_{};
};

// Each of these leaves the selections settled.
void sort_rows(Picture& picture);
void take_jobs(Picture& picture, std::vector<Map> jobs);
// In the list that is shown, up (-1) or down (1).
void move_selection(Picture& picture, int step);

std::string draw(const Picture& picture, const Size& size);

}  // namespace xylem::tool
