// The end of a failed CHECK. The one place in core that writes anywhere: the process is about to
// die and nobody else would say why. Only fputs and a stack buffer, since the heap may be what is
// broken.
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "xylem/check.h"

namespace xylem {

void check_failed(const char* file, int line, const char* condition) noexcept {
  std::array<char, 16> digits{};
  std::to_chars(digits.data(), digits.data() + digits.size() - 1, line);
  std::fputs("xylem: CHECK failed: ", stderr);
  std::fputs(file, stderr);
  std::fputs(":", stderr);
  std::fputs(digits.data(), stderr);
  std::fputs(": ", stderr);
  std::fputs(condition, stderr);
  std::fputs("\n", stderr);
  std::abort();
}

}  // namespace xylem
