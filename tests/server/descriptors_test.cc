// The connection limit, from what is configured and what the process's descriptors allow; and that
// the limit of descriptors is raised.

#include "server/descriptors.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

namespace xylem {
namespace {

TEST_CASE("the limit is what is configured, as far as descriptors allow") {
  CHECK(connection_limit(0, 1'000) == 1'000);
  CHECK(connection_limit(5, 1'000) == 5);
  CHECK(connection_limit(1'000, 1'000) == 1'000);
  CHECK(connection_limit(1'001, 1'000) == 1'000);
}

TEST_CASE("the descriptor limit is raised, and some are kept back") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit lowered{.rlim_cur = before.rlim_max / 2, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &lowered) == 0);
  auto most_connections = raise_descriptor_limit();
  REQUIRE(most_connections.ok());
  CHECK(most_connections.value() == before.rlim_max - kReservedDescriptors);
  rlimit after{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(after.rlim_cur == before.rlim_max);
}

}  // namespace
}  // namespace xylem
