// Addresses as people write them, and the YAML that servers write; what is wrong with either is
// said or left out.
#include <doctest/doctest.h>

#include "xylem/client.h"

namespace xylem::client {
namespace {

std::string address(std::string_view text) { return to_string(parse_address(text).value()); }
std::string complaint(std::string_view text) { return parse_address(text).error().text; }

TEST_CASE("addresses") {
  CHECK(address("db") == "db:11300");
  CHECK(address("db:1") == "db:1");
  CHECK(address("::1") == "[::1]:11300");
  CHECK(address("[::1]") == "[::1]:11300");
  CHECK(address("[::1]:99") == "[::1]:99");
  CHECK(address("unix:/run/x") == "unix:/run/x");
  CHECK(complaint("") == "'' is no server address: it names no host");
  CHECK(complaint("db:") == "'db:' is no server address: it names no port");
  CHECK(complaint(":1") == "':1' is no server address: it names no host");
  for (const std::string_view port : {"87236", "65536", "0", "-1", "1x", " 1"}) {
    const std::string text = "db:" + std::string(port);
    CHECK(complaint(text) ==
          "'" + text + "' is no server address: a port is a number from 1 to 65535");
  }
  CHECK(address("db:65535") == "db:65535");
  CHECK(address("db:http") == "db:http");
  CHECK(complaint("[::1") == "'[::1' is no server address: the bracket is not closed");
  CHECK(complaint("[::1]1") ==
        "'[::1]1' is no server address: after the bracket comes ':' and a port");
  CHECK(complaint("unix:") == "'unix:' is no server address: it names no path");
}

TEST_CASE("a map") {
  const Map map = parse_map("---\nid: 1\ntube: \"a: b\"\nstate: ready\nbad line\nlast: 7");
  REQUIRE(map.size() == 4);
  CHECK(text_of(map, "tube") == "a: b");
  CHECK(number_of(map, "last") == 7);
  CHECK(number_of(map, "state") == 0);
  CHECK(text_of(map, "none").empty());
}

TEST_CASE("a list") {
  CHECK(parse_list("---\n- default\n- \"a b\"\n") == std::vector<std::string>{"default", "a b"});
  CHECK(parse_list("---\n").empty());
}

TEST_CASE("rows") {
  const std::vector<Map> rows = parse_rows("---\n  x: 0\n- id: 1\n  state: ready\n- id: 2\n");
  REQUIRE(rows.size() == 2);
  CHECK(text_of(rows[0], "state") == "ready");
  CHECK(number_of(rows[1], "id") == 2);
}

}  // namespace
}  // namespace xylem::client
