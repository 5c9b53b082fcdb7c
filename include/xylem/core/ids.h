// The names of things: jobs by number, clients by number, tubes by name. Numbers are the engine's;
// a tube's name is the client's, so it is checked before it names anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "xylem/core/limits.h"

namespace xylem {

// Ids rise from 1 and are never given twice; 0 names no job.
using JobId = std::uint64_t;

// Names a client of the engine while it is connected; numbers of ended clients are given again, the
// lowest first, so that they can index an array. See Engine::connect().
enum class ClientId : std::uint32_t {};

constexpr std::uint32_t index_of(ClientId id) { return static_cast<std::uint32_t>(id); }

// The order of ready jobs: by priority, then id. For whatever has both.
template <class A, class B>
constexpr bool more_urgent(const A& a, const B& b) {
  return a.pri != b.pri ? a.pri < b.pri : a.id < b.id;
}

// protocol.md, "Tube names": the bytes that a name may have, case-sensitive, never normalised.
inline constexpr std::array<bool, 256> kTubeNameChars = [] {
  std::array<bool, 256> chars{};
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+/;.$_()";
  for (const char c : kAllowed) chars[static_cast<unsigned char>(c)] = true;
  return chars;
}();

constexpr bool is_tube_name_char(char c) { return kTubeNameChars[static_cast<unsigned char>(c)]; }

constexpr bool is_tube_name(std::string_view name) {
  return !name.empty() && name.size() <= limits::kTubeNameBytes && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), is_tube_name_char);
}

}  // namespace xylem
