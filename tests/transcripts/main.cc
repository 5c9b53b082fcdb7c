// The runner: plays transcripts in one of the worlds and prints what went otherwise.
//
//   transcript_runner --virtual FILE...              in this process, with virtual time
//   transcript_runner --xylemd BINARY FILE...        against our server
//   transcript_runner --beanstalkd BINARY FILE...    against the oracle
//
// Each conversation has a server of its own, so they run side by side: most of their time is
// waiting.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine_world.h"
#include "player.h"
#include "script.h"
#include "socket_world.h"

namespace xylem::transcript {
namespace {

constexpr std::size_t kSideBySide = 12;

// Real time proves nothing on a machine that stands still for a while, so a conversation that
// failed is played again if more time passed than it wanted. beanstalkd may be asked again in any
// case: it loses a ttr when its tick falls into the very microsecond of the deadline, about once in
// forty.
constexpr int kTries = 6;
constexpr int kOracleTries = 3;

struct Order {
  WorldKind kind = WorldKind::kBeanstalkd;
  std::string binary;
  std::vector<Script> scripts;
};

std::unique_ptr<World> make_world(const Order& order) {
  if (order.kind == WorldKind::kVirtual) return std::make_unique<EngineWorld>();
  return std::make_unique<SocketWorld>(order.binary, order.kind == WorldKind::kXylemd);
}

std::optional<Failure> play(const Order& order, const Script& script) {
  const bool oracle = order.kind == WorldKind::kBeanstalkd;
  for (int tries = 1;; ++tries) {
    const auto world = make_world(order);
    auto failure = Player(*world, oracle).play(script);
    const bool again = world->ran_late() ? tries < kTries : oracle && tries < kOracleTries;
    if (!failure || !again) return failure;
  }
}

bool runs_in(const Script& script, WorldKind kind) {
  return std::find(script.runs.begin(), script.runs.end(), kind) != script.runs.end();
}

// Plays all and prints the failures; the answer is their number.
int play_all(const Order& order) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failures = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t at = next++; at < order.scripts.size(); at = next++) {
      const auto failure = play(order, order.scripts[at]);
      if (!failure) continue;
      ++failures;
      const std::scoped_lock lock(printing);
      std::printf("%s: %s\n    got: %s\n", failure->where.c_str(), failure->step.c_str(),
                  failure->got.c_str());
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 0; i < kSideBySide; ++i) workers.emplace_back(work);
  workers.clear();
  return failures;
}

// Reads the files; false if one of them is not well written.
bool read_all(std::span<const std::string> files, Order& order) {
  std::vector<Mistake> mistakes;
  for (const std::string& file : files) {
    for (Script& script : read_scripts(file, mistakes)) {
      if (runs_in(script, order.kind)) order.scripts.push_back(std::move(script));
    }
  }
  for (const Mistake& mistake : mistakes) {
    std::printf("%s: %s\n", mistake.where.c_str(), mistake.why.c_str());
  }
  return mistakes.empty();
}

// What the command line asks for, and where its files begin; 0 if it is wrong.
std::size_t parse(const std::vector<std::string>& words, Order& order) {
  if (words.size() >= 2 && words[0] == "--virtual") {
    order.kind = WorldKind::kVirtual;
    return 1;
  }
  if (words.size() < 3 || (words[0] != "--beanstalkd" && words[0] != "--xylemd")) return 0;
  order.kind = words[0] == "--xylemd" ? WorldKind::kXylemd : WorldKind::kBeanstalkd;
  order.binary = words[1];
  return 2;
}

int run(const std::vector<std::string>& words) {
  Order order;
  const std::size_t files = parse(words, order);
  if (files == 0) {
    std::printf(
        "usage: transcript_runner --virtual | --xylemd BINARY | --beanstalkd BINARY  FILE...\n");
    return 2;
  }
  if (!read_all({words.data() + files, words.data() + words.size()}, order)) return 2;
  const int failures = play_all(order);
  std::printf("%zu conversations, %d failed\n", order.scripts.size(), failures);
  return failures == 0 && !order.scripts.empty() ? 0 : 1;
}

}  // namespace
}  // namespace xylem::transcript

int main(int count, char** arguments) {
  return xylem::transcript::run({arguments + 1, arguments + count});
}
