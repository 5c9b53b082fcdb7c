// What a connection makes of the bytes that come: replies whole or in pieces, streams that break,
// and servers that are none. Each against a scripted server.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/scripted_server.h"

namespace xylem::client {
namespace {

using std::chrono::milliseconds;

Result<Reply> ask(const ScriptedServer& server, const Options& options = {}) {
  Result<Connection> connection = Connection::connect(server.address(), options);
  REQUIRE(connection.ok());
  return connection.value().ask("stats");
}

std::string failure_of(const std::vector<std::string>& pieces) {
  const ScriptedServer server(pieces);
  Result<Reply> reply = ask(server);
  REQUIRE(!reply.ok());
  CHECK(reply.error().exit_code == kUnreachable);
  const std::string where = to_string(server.address()) + " ";
  REQUIRE(reply.error().text.starts_with(where));
  return reply.error().text.substr(where.size());
}

TEST_CASE("a line") {
  const ScriptedServer server({"INSERTED 17\r\n"});
  Result<Reply> reply = ask(server);
  REQUIRE(reply.ok());
  CHECK(reply.value().is("INSERTED"));
  CHECK(reply.value().number() == 17);
  CHECK(reply.value().line() == "INSERTED 17");
}

TEST_CASE("a body, byte by byte") {
  std::vector<std::string> pieces;
  for (const char c : std::string_view("RESERVED 5 7\r\na\r\n\0b\r\n\r\n", 23))
    pieces.emplace_back(1, c);
  const ScriptedServer server(pieces);
  Result<Reply> reply = ask(server);
  REQUIRE(reply.ok());
  CHECK(reply.value().number() == 5);
  CHECK(reply.value().body == std::string("a\r\n\0b\r\n", 7));
}

TEST_CASE("several replies in one piece") {
  const ScriptedServer server({"OK 3\r\nabc\r\nNOT_FOUND\r\nTIMED_OUT\r\n"});
  Result<Connection> connection = Connection::connect(server.address());
  REQUIRE(connection.ok());
  for (int i = 0; i < 3; ++i) connection.value().send("x");
  CHECK(connection.value().owed() == 3);
  CHECK(connection.value().receive().value().body == "abc");
  CHECK(connection.value().receive().value().is("NOT_FOUND"));
  CHECK(connection.value().receive().value().is("TIMED_OUT"));
  CHECK(connection.value().owed() == 0);
}

TEST_CASE("the end of the stream, before and in the middle of a reply") {
  CHECK(failure_of({}) == "closed the connection");
  CHECK(failure_of({"INSERT"}) == "closed the connection in the middle of a reply");
  CHECK(failure_of({"OK 10\r\nabc"}) == "closed the connection in the middle of a reply");
}

TEST_CASE("what answers is no beanstalk server") {
  CHECK(failure_of({"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"}) ==
        "does not speak the beanstalk protocol; it said \"HTTP/1.1 400 Bad Request\"");
  CHECK(failure_of({"-ERR unknown\x1b[2J command\r\n"}) ==
        "does not speak the beanstalk protocol; it said \"-ERR unknown.[2J command\"");
  CHECK(failure_of({"<html>\n"}) == "does not speak the beanstalk protocol; it said \"<html>\"");
  CHECK(failure_of({std::string(300, 'A')}) ==
        "does not speak the beanstalk protocol; it said \"" + std::string(40, 'A') + "\"");
  CHECK(failure_of({"OK many\r\n"}) ==
        "does not speak the beanstalk protocol; it said \"OK many\"");
  CHECK(failure_of({"OK 3\r\nabcdef\r\n"}) == "sent a body of another length");
}

TEST_CASE("a server that says nothing") {
  const ScriptedServer server({}, false);
  Result<Reply> reply = ask(server, {.reply_timeout = milliseconds{50}});
  REQUIRE(!reply.ok());
  CHECK(reply.error().text == to_string(server.address()) + " has not answered for 50 ms");
}

TEST_CASE("a wait is interrupted by a descriptor of the caller") {
  const ScriptedServer server({}, false);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "x", 1) == 1);
  Result<Reply> reply = ask(server, {.interrupt_fd = ends[0]});
  REQUIRE(!reply.ok());
  CHECK(reply.error().exit_code == kInterrupted);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("receive_now takes what is there") {
  const ScriptedServer server({"USING a\r\n", "USING"}, false);
  Result<Connection> connection = Connection::connect(server.address());
  REQUIRE(connection.ok());
  connection.value().send("use a");
  Result<std::optional<Reply>> reply = std::optional<Reply>{};
  for (int tries = 0; tries < 1'000 && reply.ok() && !reply.value(); ++tries) {
    reply = connection.value().receive_now();
    usleep(1'000);
  }
  REQUIRE(reply.ok());
  REQUIRE(reply.value());
  CHECK(reply.value()->argument == "a");
  REQUIRE(connection.value().receive_now().ok());
  CHECK(!connection.value().receive_now().value());
}

TEST_CASE("nobody is there") {
  Result<Connection> connection = Connection::connect({.path = "/nonexistent/socket"});
  REQUIRE(!connection.ok());
  CHECK(connection.error().exit_code == kUnreachable);
  CHECK(connection.error().text ==
        "cannot connect to unix:/nonexistent/socket: No such file or directory");
  CHECK(!Connection::connect({.path = std::string(200, 'x')}).ok());
  CHECK(!Connection::connect({.host = "127.0.0.1", .port = "1"}).ok());
  CHECK(!Connection::connect({.host = "127.0.0.1", .port = "no-such-service"}).ok());
}

}  // namespace
}  // namespace xylem::client
