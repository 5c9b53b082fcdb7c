// The log's checksum: XXH3 with a seed. Inlined, since most of what is checked is a record's head
// of 13 bytes. This is the only file that includes xxhash.
#pragma once

#define XXH_INLINE_ALL
#ifndef NDEBUG
#define XXH_NO_INLINE_HINTS 1  // under -Og not all of them can be followed
#endif
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace xylem {

inline std::uint64_t check64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

inline std::uint32_t check32(std::string_view bytes, std::uint64_t seed) {
  return static_cast<std::uint32_t>(check64(bytes, seed));
}

// Of two pieces, one behind the other.
inline std::uint32_t check32(std::string_view first, std::string_view second, std::uint64_t seed) {
  if (second.empty()) return check32(first, seed);
  XXH3_state_t state{};
  XXH3_64bits_reset_withSeed(&state, seed);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return static_cast<std::uint32_t>(XXH3_64bits_digest(&state));
}

}  // namespace xylem
