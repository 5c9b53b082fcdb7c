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

struct Picture {
  std::string server;
  Map stats;
  std::vector<TubeRow> tubes;
  std::deque<double> throughput;  // jobs deleted a second, the newest last
  double puts = 0;
  double deletes = 0;
  std::string tube;       // drilled into; empty: all tubes
  std::vector<Map> jobs;  // of that tube, each with its excerpt
  std::size_t selected = 0;
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

void sort_rows(Picture& picture);
std::string draw(const Picture& picture, const Size& size);

}  // namespace xylem::tool
