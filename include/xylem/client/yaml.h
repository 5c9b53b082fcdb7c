// The YAML that servers of this protocol write, and no other: a flat map (stats), a list of names
// (list-tubes), a list of flat maps (list-jobs, stats-tubes). Values stay text, without the quotes
// around them. A line that fits none of this is left out.
//
//   ---                  ---               ---
//   id: 1                - default         - id: 1
//   tube: "default"      - mail              state: ready
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xylem::client {

// Keys and values in the order of the server.
using Map = std::vector<std::pair<std::string, std::string>>;

Map parse_map(std::string_view yaml);
std::vector<std::string> parse_list(std::string_view yaml);
std::vector<Map> parse_rows(std::string_view yaml);

// The value of a key, "" if it is not there; and as a number, 0 if it is none.
std::string_view text_of(const Map& map, std::string_view key);
std::uint64_t number_of(const Map& map, std::string_view key);

}  // namespace xylem::client
