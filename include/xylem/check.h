// CHECK: the answer to a mistake of our own. It is always on, names the place and what should have
// held, and aborts: a server that goes on after a broken invariant loses jobs quietly. Clients'
// mistakes are reply words and the world's failures are Result<T>; neither ever reaches CHECK.
#pragma once

namespace xylem {

[[noreturn]] void check_failed(const char* file, int line, const char* condition) noexcept;

}  // namespace xylem

#define CHECK(condition)                               \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::xylem::check_failed(__FILE__, __LINE__, #condition))
