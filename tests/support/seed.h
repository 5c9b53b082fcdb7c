// Seeds of random tests. A seed is a text, for example a commit's hash (XYLEM_SEED, which
// tools/test sets), so that the same commit runs the same histories.
#pragma once

#include <cstdint>
#include <string_view>

namespace xylem::test {

// FNV-1a.
constexpr std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

}  // namespace xylem::test
