// The random salt of a segment: what a client sends, or an old file holds, cannot know it, so
// neither can be taken for a record. It comes from the kernel, once a segment; tests need no fixed
// one, since nothing depends on its value.
#pragma once

#include <sys/random.h>

#include <cstdint>

#include "xylem/check.h"

namespace xylem {

inline std::uint64_t random_salt() {
  std::uint64_t salt = 0;
  CHECK(getrandom(&salt, sizeof salt, 0) == sizeof salt);
  return salt;
}

}  // namespace xylem
