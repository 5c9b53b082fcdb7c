// Formatting: three digits or so, because machines are noisier than the fourth. JSON has six, and
// leaves out what is not finite.
#include "table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace xylem::load {

namespace {

// All figures that any run has, in the order in which they first appear.
Figures figures_of(const std::vector<Contestant>& contestants) {
  Figures all;
  for (const Contestant& contestant : contestants) {
    for (const Figures& run : contestant.runs) {
      for (const Figure& figure : run) {
        if (std::ranges::find(all, figure.name, &Figure::name) == all.end()) all.push_back(figure);
      }
    }
  }
  return all;
}

std::string number(double value) {
  if (value >= 1000 || value <= -1000) return fmt::format("{:.0f}", value);
  return value >= 10 || value <= -10 ? fmt::format("{:.1f}", value) : fmt::format("{:.3f}", value);
}

std::string cell(const Contestant& contestant, const Contestant& first, const std::string& figure) {
  double value = 0;
  double base = 0;
  if (!contestant.median(figure, value)) return "-";
  if (&contestant == &first || !first.median(figure, base) || base == 0) return number(value);
  return fmt::format("{} ({:.2f}x)", number(value), value / base);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

std::string figures_json(const Contestant& contestant) {
  std::string result;
  for (const Figure& figure : figures_of({contestant})) {
    double value = 0;
    contestant.median(figure.name, value);
    if (!std::isfinite(value)) continue;  // JSON has no word for it
    result += fmt::format("{}{}: {:.6g}", result.empty() ? "" : ", ", quoted(figure.name), value);
  }
  return result;
}

}  // namespace

std::string to_table(const std::vector<Contestant>& contestants) {
  std::string result = fmt::format("{:<28}", "");
  for (const Contestant& contestant : contestants) result += fmt::format("{:>24}", contestant.name);
  result += '\n';
  for (const Figure& figure : figures_of(contestants)) {
    result += fmt::format("{:<24}{:<4}", figure.name, figure.unit);
    for (const Contestant& contestant : contestants) {
      result += fmt::format("{:>24}", cell(contestant, contestants.front(), figure.name));
    }
    result += '\n';
  }
  return result;
}

std::string to_json(const std::string& workload, const std::vector<Contestant>& contestants) {
  std::string servers;
  for (const Contestant& contestant : contestants) {
    servers += fmt::format("{}{{\"name\": {}, \"runs\": {}, \"figures\": {{{}}}}}",
                           servers.empty() ? "" : ", ", quoted(contestant.name),
                           contestant.runs.size(), figures_json(contestant));
  }
  return fmt::format("{{\"workload\": {}, \"servers\": [{}]}}\n", quoted(workload), servers);
}

}  // namespace xylem::load
