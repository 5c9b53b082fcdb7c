// How many connections the process's descriptors allow. The limit is raised to what the system
// grants; some descriptors are kept back, so that a flood of connections never takes the last one.
#pragma once

#include <cstdint>

#include "xylem/result.h"

namespace xylem {

// Kept back: the loop's own, the log's, the listeners, and those that later pieces open.
inline constexpr std::uint64_t kReservedDescriptors = 32;

// Raises the limit and says how many connections it leaves room for: at least 1, or an Error.
Result<std::uint64_t> raise_descriptor_limit();

// What `configured` (0: as many as possible) comes to, at most `possible`.
constexpr std::uint64_t connection_limit(std::uint64_t configured, std::uint64_t possible) {
  return configured == 0 || configured > possible ? possible : configured;
}

}  // namespace xylem
