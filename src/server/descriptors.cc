// getrlimit and setrlimit. If the system refuses to raise the limit it stays as it was, which is
// then all that there is.

#include "server/descriptors.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "xylem/check.h"

namespace xylem {

Result<std::uint64_t> raise_descriptor_limit() {
  rlimit limit{};
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  if (limit.rlim_cur <= kReservedDescriptors) {
    return Error{fmt::format("the limit of descriptors is {}; at least {} are needed (ulimit -n)",
                             limit.rlim_cur, kReservedDescriptors + 1)};
  }
  return limit.rlim_cur - kReservedDescriptors;
}

}  // namespace xylem
