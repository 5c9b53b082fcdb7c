// The differential run: random clients talk to two servers, and every reply is compared.
//
//   differential FIRST SECOND [--commands N] [--seed N] [--plant reply|order|counter]
//
// FIRST is the one that is believed (Debian's beanstalkd), SECOND the one under test. The seed is
// that of --seed, or of XYLEM_SEED (whose text is hashed if it is no number), or 1. With --plant
// what SECOND says is altered once, and the run must find it.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "generator.h"
#include "history.h"
#include "pair.h"

namespace xylem::differential {
namespace {

constexpr std::chrono::seconds kShrinkTime{30};
constexpr std::size_t kShownSteps = 120;

struct Order {
  std::array<std::string, 2> binaries;
  std::size_t command_count = 20'000;
  std::uint64_t seed = 1;
  std::string plant;
};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) return std::nullopt;
  return value;
}

// A number is itself; any other text, such as a commit hash, gives some number of its own.
std::uint64_t seed_of(std::string_view text) {
  if (const auto value = number(text)) return *value;
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

// One reply word, once.
Pair::Plant planted_reply() {
  return [count = 0](std::vector<Reply>& replies) mutable {
    for (Reply& reply : replies) {
      if (reply.line == "DELETED" && ++count == 50) reply.line = "NOT_FOUND";
    }
  };
}

// Two jobs handed out in the wrong order, once.
Pair::Plant planted_order() {
  return [count = 0](std::vector<Reply>& replies) mutable {
    Reply* first = nullptr;
    for (Reply& reply : replies) {
      if (!reply.line.starts_with("RESERVED ")) continue;
      if (first == nullptr) {
        first = &reply;
      } else if (++count == 20) {
        std::swap(*first, reply);
      }
    }
  };
}

// One counter of the statistics off by one, once.
Pair::Plant planted_counter() {
  return [count = 0](std::vector<Reply>& replies) mutable {
    for (Reply& reply : replies) {
      const auto at = reply.body.find("\ncmd-delete: ");
      const bool of_server = reply.body.find("\ncmd-stats: ") != std::string::npos;
      if (at == std::string::npos || !of_server || ++count != 20) continue;
      char& digit = reply.body[reply.body.find('\n', at + 1) - 1];
      digit = digit == '9' ? '8' : static_cast<char>(digit + 1);
    }
  };
}

Pair::Plant plant_named(const std::string& name) {
  if (name == "reply") return planted_reply();
  if (name == "order") return planted_order();
  return planted_counter();
}

// Plays until a difference is found or all commands are done.
std::optional<Difference> play(const Order& order, Generator& generator, History& history) {
  Pair pair;
  if (auto why = pair.start(order.binaries); !why.empty()) return Difference{.what = why};
  if (!order.plant.empty()) pair.set_plant(plant_named(order.plant));
  const std::size_t drain_at = order.command_count - order.command_count / 10;
  bool draining = false;
  while (generator.command_count() < order.command_count) {
    Op op = generator.next(pair);
    if (!draining && generator.command_count() >= drain_at) {
      draining = true;
      op = {.kind = Op::Kind::kDrain, .connection = 0, .bytes = "", .reply_count = 0};
    }
    const auto difference = pair.run(op);
    history.ops.push_back(op);
    history.heard.push_back(pair.heard());
    if (difference) return difference;
    generator.learn(op, pair.heard());
  }
  return std::nullopt;
}

void report(const Order& order, const Difference& difference, const History& history) {
  std::printf("A difference, with seed %llu, in step %zu:\n%s\n",
              static_cast<unsigned long long>(order.seed), history.ops.size(),
              difference.what.c_str());
  History shorter;
  const auto ops = shrink(order.binaries, history.ops, kShrinkTime);
  const auto again = replay(order.binaries, ops, shorter);
  if (!again) {
    std::printf("It does not come again. The last steps:\n%s",
                as_transcript(history, kShownSteps).c_str());
    return;
  }
  std::printf("The same in %zu steps:\n%s%s\n", ops.size(),
              as_transcript(shorter, kShownSteps).c_str(), again->what.c_str());
}

int run(const Order& order) {
  Generator generator(order.seed);
  History history;
  const auto difference = play(order, generator, history);
  const std::size_t count = generator.command_count();
  if (!order.plant.empty()) {
    std::printf("planted %s: %s after %zu commands\n", order.plant.c_str(),
                difference ? "found" : "NOT found", count);
    return difference ? 0 : 1;
  }
  std::printf("seed %llu: %zu commands in %zu steps\n", static_cast<unsigned long long>(order.seed),
              count, history.ops.size());
  if (difference) report(order, *difference, history);
  return difference ? 1 : 0;
}

std::optional<Order> parse(const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() % 2 != 0) return std::nullopt;
  Order order;
  order.binaries = {words[0], words[1]};
  if (const char* seed = std::getenv("XYLEM_SEED")) order.seed = seed_of(seed);
  for (std::size_t i = 2; i < words.size(); i += 2) {
    if (words[i] == "--commands" && number(words[i + 1])) {
      order.command_count = *number(words[i + 1]);
    } else if (words[i] == "--seed") {
      order.seed = seed_of(words[i + 1]);
    } else if (words[i] == "--plant" &&
               (words[i + 1] == "reply" || words[i + 1] == "order" || words[i + 1] == "counter")) {
      order.plant = words[i + 1];
    } else {
      return std::nullopt;
    }
  }
  return order;
}

}  // namespace
}  // namespace xylem::differential

int main(int count, char** arguments) {
  const auto order = xylem::differential::parse({arguments + 1, arguments + count});
  if (!order) {
    std::printf(
        "usage: differential FIRST SECOND [--commands N] [--seed N] [--plant "
        "reply|order|counter]\n");
    return 2;
  }
  return xylem::differential::run(*order);
}
