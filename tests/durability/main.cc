// Many worlds, each with a seed of its own: XYLEM_SEED (a commit's hash) and a number. Each lives
// through power cuts in thought at its disk operations, and through real ones, kills and restarts;
// then through a disk whose nth operation fails, for n = 1, 2, 3 ... until a run completes.
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "durability/world.h"
#include "support/seed.h"

namespace xylem::durability {
namespace {

constexpr int kSteps = 400;
constexpr int kFailingSteps = 150;

void live(std::uint64_t seed, std::uint64_t& checks, std::uint64_t& retired) {
  World world(seed);
  for (int life = 0; life < 6; ++life) {
    world.run(kSteps, 100);
    switch ((seed + static_cast<std::uint64_t>(life)) % 3) {
      case 0:
        world.cut_power();
        break;
      case 1:
        world.kill();
        break;
      default:
        world.restart();
    }
  }
  checks += world.checks();
  retired += world.retired();
}

// How many operations failed, one in each run, before a run completed.
std::uint64_t fail_each(std::uint64_t seed) {
  std::uint64_t nth = 1;
  while (true) {
    World world(seed);
    if (!world.run_until_failure(nth, kFailingSteps)) return nth - 1;
    world.kill();
    world.run(20, 0);
    world.restart();
    ++nth;
  }
}

int run(std::uint64_t base, std::uint64_t first, std::uint64_t count) {
  std::uint64_t checks = 0;
  std::uint64_t retired = 0;
  for (std::uint64_t i = first; i < first + count; ++i) live(base + i, checks, retired);
  const std::uint64_t failures = fail_each(base + first);
  fmt::print("{} worlds, {} starts checked, {} segments retired, {} operations failed\n", count,
             checks, retired, failures);
  return checks > 0 && retired > 0 && failures > 0 ? 0 : 1;
}

}  // namespace
}  // namespace xylem::durability

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    if (at >= argc) return otherwise;
    const std::string_view text = argv[at];
    std::from_chars(text.data(), text.data() + text.size(), otherwise);
    return otherwise;
  };
  const char* seed = std::getenv("XYLEM_SEED");
  return xylem::durability::run(xylem::test::hash_of(seed == nullptr ? "1" : seed), number(1, 0),
                                number(2, 20));
}
