// A program of somebody else: puts a job by the installed library, and says what came of it. It
// defines a CHECK of its own, which the library's headers must leave alone.
#define CHECK mine

#include <xylem/client.h>

#include <cstdio>

int main(int argc, char** argv) {
  auto address = xylem::client::parse_address(argc > 1 ? argv[1] : "");
  if (!address) return 2;
  auto connection = xylem::client::Connection::connect(address.value());
  if (!connection) return connection.error().exit_code;
  auto reply = connection.value().put("hello");
  if (!reply) return 1;
  std::printf("%s\n", reply.value().line().c_str());
}
