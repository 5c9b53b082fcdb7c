// What two sockets on one address see of each other between bind and listen; all else is tested
// with the running process (tests/process/listen_test.py).
#include "server/listen_socket.h"

#include <doctest/doctest.h>

#include <string>

namespace xylem {
namespace {

TEST_CASE("an address that is bound is taken before anybody listens on it") {
  auto first = bind_to(TcpAddress{.host = "127.0.0.1", .port = "0"});
  REQUIRE(first.ok());
  const std::string& name = first.value().name;
  const auto second =
      bind_to(TcpAddress{.host = "127.0.0.1", .port = name.substr(name.find(':') + 1)});
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().exit_code == 111);
  CHECK(start_listening(first.value()).ok());
  Log log = make_log(Config{});
  close_and_remove(first.value(), log);
}

}  // namespace
}  // namespace xylem
