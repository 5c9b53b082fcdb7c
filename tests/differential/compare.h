// When are two replies the same? Equal bytes, except in statistics: there each key is compared, the
// volatile ones are not, times may differ by a second, and quotes around names do not count
// (Debian's 1.12 has none).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "wire.h"

namespace xylem::differential {

[[nodiscard]] bool same(const Reply& left, const Reply& right);

// The number behind "key: " in a block of statistics.
[[nodiscard]] std::optional<std::int64_t> number_in(std::string_view block, std::string_view key);

}  // namespace xylem::differential
