// Makes up what clients do: mostly valid commands that meet jobs which are there, some broken
// lines.
//
// It keeps to what the protocol defines. Delays are 0 or all different and far away, a ttr is 1000
// and more, so time decides nothing; at most one client waits for a tube; while somebody waits no
// command makes two jobs ready; no line has a lone CR or 224 k + 1 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "op.h"
#include "pair.h"

namespace xylem::differential {

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // The next step, for a pair that has done all earlier ones.
  [[nodiscard]] Op next(const Pair& pair);
  // What was heard of the step: the generator learns ids, and who watches what.
  void learn(const Op& op, const std::vector<Heard>& heard);
  // Commands and broken lines so far.
  [[nodiscard]] std::size_t command_count() const { return command_count_; }

 private:
  // Bytes that have so many replies.
  struct Item {
    std::string bytes;
    std::size_t reply_count = 1;
  };

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class Range>
  [[nodiscard]] const auto& any_of(const Range& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(std::size(range))));
  }

  [[nodiscard]] std::size_t idle_connection(const Pair& pair);
  [[nodiscard]] bool may_wait(std::size_t connection, const Pair& pair) const;
  [[nodiscard]] Op batch(std::size_t connection, bool somebody_waits);
  [[nodiscard]] Op question_before_waiting(std::size_t connection);

  [[nodiscard]] Item item(std::size_t connection, bool somebody_waits);
  [[nodiscard]] Item put();
  [[nodiscard]] Item broken_put();
  [[nodiscard]] Item broken_line();
  [[nodiscard]] Item mutated_line(std::size_t connection);
  [[nodiscard]] Item overlong_line();
  [[nodiscard]] std::string simple_line();
  [[nodiscard]] std::string job_line(std::size_t connection);

  [[nodiscard]] std::string id(std::size_t connection);
  [[nodiscard]] std::string pri();
  [[nodiscard]] std::string delay();
  [[nodiscard]] std::string tube();
  [[nodiscard]] std::string body(std::size_t size);

  std::mt19937_64 random_;
  std::uint64_t last_id_ = 0;
  std::uint64_t delay_count_ = 0;
  std::size_t command_count_ = 0;
  std::map<std::size_t, std::vector<std::uint64_t>> reserved_;
  std::map<std::size_t, std::set<std::string>> watched_;  // As last listed.
  std::size_t asked_ = kObserver;                         // Who asked whether it would wait ...
  bool would_wait_ = false;                               // ... and what it heard.
};

}  // namespace xylem::differential
