// Which characters a terminal would heed instead of showing: control characters, and those that
// turn the direction of writing or end a line (Unicode's bidirectional formatting, U+2028 and
// U+2029). Whoever prints what a client has sent escapes them.
#pragma once

#include <cstdint>

namespace xylem {

constexpr bool steers_terminal(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool mark = code == 0x061c || code == 0x200e || code == 0x200f;
  return control || mark || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace xylem
