// One pass over the lines; a key ends at the first ": ". Nothing is unescaped, since servers escape
// nothing.
#include "xylem/client/yaml.h"

#include <algorithm>
#include <charconv>

namespace xylem::client {
namespace {

template <class Take>
void each_line(std::string_view yaml, Take take) {
  while (!yaml.empty()) {
    const std::string_view line = yaml.substr(0, yaml.find('\n'));
    if (line != "---") take(line);
    yaml.remove_prefix(std::min(yaml.size(), line.size() + 1));
  }
}

std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

void take_pair(std::string_view line, Map& map) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return;
  map.emplace_back(line.substr(0, colon), unquoted(line.substr(colon + 2)));
}

}  // namespace

Map parse_map(std::string_view yaml) {
  Map map;
  each_line(yaml, [&map](std::string_view line) { take_pair(line, map); });
  return map;
}

std::vector<std::string> parse_list(std::string_view yaml) {
  std::vector<std::string> list;
  each_line(yaml, [&list](std::string_view line) {
    if (line.starts_with("- ")) list.emplace_back(unquoted(line.substr(2)));
  });
  return list;
}

std::vector<Map> parse_rows(std::string_view yaml) {
  std::vector<Map> rows;
  each_line(yaml, [&rows](std::string_view line) {
    if (line.starts_with("- ")) {
      rows.emplace_back();
    } else if (!line.starts_with("  ") || rows.empty()) {
      return;
    }
    take_pair(line.substr(2), rows.back());
  });
  return rows;
}

std::string_view text_of(const Map& map, std::string_view key) {
  const auto found = std::ranges::find(map, key, &Map::value_type::first);
  return found == map.end() ? std::string_view{} : std::string_view(found->second);
}

std::uint64_t number_of(const Map& map, std::string_view key) {
  const std::string_view text = text_of(map, key);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace xylem::client
