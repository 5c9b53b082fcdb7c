// Runs the simulation many times, each with settings and steps of its own, in a child process: so
// whatever stops a run (a difference, a CHECK, a crash, a hang) is a failure that can be told. Then
// the run's history is made shorter as long as it still fails, and what is left is shown.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "simulation.h"
#include "support/seed.h"

namespace xylem::simulation {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Order {
  std::string seed = "1";
  std::uint64_t first = 0;
  std::uint64_t runs = 300;
  std::uint64_t steps = 1'000;
  std::string save;   // a folder for the histories instead of running them
  bool show = false;  // the transcripts, too
};

constexpr unsigned kLongestRunSeconds = 60;
constexpr std::chrono::seconds kShortening{20};

Bytes bytes_of(const Order& order, std::uint64_t run) {
  std::mt19937_64 random(test::hash_of(fmt::format("{} {}", order.seed, run)));
  Bytes bytes(kSettingsBytes + order.steps * kStepBytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 56U);
  return bytes;
}

// True if `act` ended well in a child process.
template <class Act>
bool ends_well(const Act& act) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    act();
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool fails(const Bytes& bytes) {
  return !ends_well([&] {
    alarm(kLongestRunSeconds);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(0);
    Simulation(bytes).run();
  });
}

// Cuts pieces of so many steps out, from the end, as long as what is left fails.
void shorten(Bytes& bytes, std::size_t piece, std::chrono::steady_clock::time_point end) {
  for (std::size_t at = (bytes.size() - kSettingsBytes) / kStepBytes;
       at >= piece && std::chrono::steady_clock::now() < end;) {
    at -= piece;
    Bytes less = bytes;
    const auto from = less.begin() + static_cast<std::ptrdiff_t>(kSettingsBytes + at * kStepBytes);
    const auto to = from + static_cast<std::ptrdiff_t>(piece * kStepBytes);
    less.erase(from, std::min(to, less.end()));
    if (fails(less)) bytes = std::move(less);
  }
}

// First large pieces, then smaller ones, until nothing can go.
Bytes shortened(Bytes bytes) {
  const auto end = std::chrono::steady_clock::now() + kShortening;
  std::size_t before = 0;
  while (bytes.size() != before) {
    before = bytes.size();
    for (std::size_t piece = before / kStepBytes / 2; piece > 0; piece /= 2) {
      shorten(bytes, piece, end);
    }
  }
  return bytes;
}

void report(const Order& order, std::uint64_t run) {
  fmt::print(
      "\nrun {} of seed {} fails; alone: simulation --seed {} --first {} --runs 1 --steps {}\n",
      run, order.seed, order.seed, run, order.steps);
  const Bytes bytes = shortened(bytes_of(order, run));
  fmt::print("what is left of it, {} steps:\n", (bytes.size() - kSettingsBytes) / kStepBytes);
  ends_well([&] {
    alarm(kLongestRunSeconds);
    Simulation(bytes, stdout).run();
  });
}

int run(const Order& order) {
  void* shared = mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  auto& run = *static_cast<volatile std::uint64_t*>(shared);
  const bool well = ends_well([&] {
    for (std::uint64_t i = order.first; i < order.first + order.runs; ++i) {
      run = i;
      alarm(kLongestRunSeconds);
      Simulation(bytes_of(order, i), order.show ? stdout : nullptr).run();
    }
  });
  if (!well) report(order, run);
  fmt::print("seed {}: {} runs of {} steps\n", order.seed, run - order.first + 1, order.steps);
  return well ? 0 : 1;
}

int save(const Order& order) {
  for (std::uint64_t i = order.first; i < order.first + order.runs; ++i) {
    const Bytes bytes = bytes_of(order, i);
    std::ofstream file(fmt::format("{}/{}-{}", order.save, order.seed, i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::ptrdiff_t>(bytes.size()));
    if (!file) return 2;
  }
  return 0;
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Order> parse(const std::vector<std::string>& words) {
  Order order;
  if (const char* seed = std::getenv("XYLEM_SEED")) order.seed = seed;
  if (words.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto value = number(words[i + 1]);
    if (words[i] == "--seed") {
      order.seed = words[i + 1];
    } else if (words[i] == "--show") {
      order.show = words[i + 1] == "yes";
    } else if (words[i] == "--save") {
      order.save = words[i + 1];
    } else if (words[i] == "--first" && value) {
      order.first = *value;
    } else if (words[i] == "--runs" && value) {
      order.runs = *value;
    } else if (words[i] == "--steps" && value) {
      order.steps = *value;
    } else {
      return std::nullopt;
    }
  }
  return order;
}

}  // namespace
}  // namespace xylem::simulation

int main(int count, char** arguments) {
  const auto order = xylem::simulation::parse({arguments + 1, arguments + count});
  if (!order) {
    fmt::print(
        "usage: simulation [--seed TEXT] [--first N] [--runs N] [--steps N] [--show yes] [--save "
        "FOLDER]\n");
    return 2;
  }
  return order->save.empty() ? xylem::simulation::run(*order) : xylem::simulation::save(*order);
}
