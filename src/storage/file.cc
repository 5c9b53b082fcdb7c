// What every directory can do by means of its own calls. The calls themselves are those of the real
// disk (posix_disk.cc) and of the one in memory (tests/support/memory_disk.cc), so a test that
// counts or fails operations sees these as the calls they are made of.
#include "xylem/storage/file.h"

#include <algorithm>

namespace xylem {

Result<bool> Directory::has(std::string_view name) {
  auto names = list();
  if (!names) return names.error();
  return std::ranges::find(names.value(), name) != names.value().end();
}

}  // namespace xylem
