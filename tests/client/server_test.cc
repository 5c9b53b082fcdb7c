// The library against a real xylemd: commands, pipelining, waiting, and a server that goes away.
// The program is named by the environment variable XYLEMD.
#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "transcripts/server_process.h"
#include "xylem/client.h"

namespace xylem::client {
namespace {

using std::chrono::seconds;

struct World {
  World() {
    const char* program = std::getenv("XYLEMD");
    REQUIRE(program != nullptr);
    REQUIRE(server.start(program, {}) == "");
  }
  [[nodiscard]] Connection connect() const {
    Result<Connection> made =
        Connection::connect({.host = "localhost", .port = std::to_string(server.port())});
    REQUIRE(made.ok());
    return std::move(made).value();
  }
  transcript::ServerProcess server;
};

TEST_CASE("a job's life") {
  const World world;
  Connection connection = world.connect();
  const std::string body("b\r\n\0", 4);
  CHECK(connection.put(body, {.pri = 3, .ttr = 9}).value().line() == "INSERTED 1");
  const Reply reserved = connection.reserve().value();
  CHECK(reserved.line() == "RESERVED 1 4");
  CHECK(reserved.body == body);
  const Map stats = parse_map(connection.ask("stats-job 1").value().body);
  CHECK(number_of(stats, "pri") == 3);
  CHECK(number_of(stats, "ttr") == 9);
  CHECK(connection.ask("delete 1").value().is("DELETED"));
  CHECK(connection.reserve(seconds{0}).value().is("TIMED_OUT"));
}

TEST_CASE("a line end inside a command starts no other command") {
  const World world;
  Connection connection = world.connect();
  CHECK(connection.ask("use a\r\nuse b").value().is("BAD_FORMAT"));
  CHECK(connection.ask("list-tube-used").value().argument == "default");
}

TEST_CASE("no amount of pipelining blocks both ends") {
  const World world;
  Connection connection = world.connect();
  const std::string body(60'000, 'x');
  CHECK(connection.put(body).value().is("INSERTED"));
  constexpr int kPeeks = 500;
  for (int i = 0; i < kPeeks; ++i) {
    connection.send("peek 1");
    connection.send_put(body);
  }
  REQUIRE(connection.flush().ok());
  for (int i = 0; i < kPeeks; ++i) {
    CHECK(connection.receive().value().body.size() == body.size());
    CHECK(connection.receive().value().is("INSERTED"));
  }
}

TEST_CASE("half a close ends a wait") {
  const World world;
  Connection connection = world.connect();
  connection.send("reserve");
  REQUIRE(connection.flush().ok());
  world.server.settle();
  connection.half_close();
  CHECK(connection.receive().value().is("TIMED_OUT"));
  CHECK(!connection.receive().ok());
}

TEST_CASE("a server that stops") {
  World world;
  Connection connection = world.connect();
  CHECK(connection.ask("use a").ok());
  CHECK(world.server.stop(true) == "");
  const std::string where = "localhost:" + std::to_string(world.server.port());
  CHECK(connection.ask("use a").error().text == where + " closed the connection");
}

}  // namespace
}  // namespace xylem::client
