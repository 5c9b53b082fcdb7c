// Two servers that are told the same. Each step is done on both, and all that is heard is compared.
//
// One connection acts at a time, and its replies are read before the next acts. When somebody
// waits, an observer asks after each step how many still do, so that no reply to a waiter is missed
// or read too early.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "op.h"
#include "transcripts/server_process.h"
#include "wire.h"

namespace xylem::differential {

inline constexpr std::size_t kConnections = 5;
inline constexpr std::size_t kObserver = kConnections;  // Sends nothing but stats.

struct Difference {
  std::string what;
  // True if both servers failed to answer alike: the run is badly made, and shows no difference.
  bool both_silent = false;
};

class Pair {
 public:
  // Alters what the second server said, for the test that a difference is found.
  using Plant = std::function<void(std::vector<Reply>&)>;

  [[nodiscard]] std::string start(const std::array<std::string, 2>& binaries);
  void set_plant(Plant plant) { plant_ = std::move(plant); }

  // Does the step on both. What the first server said is in heard().
  [[nodiscard]] std::optional<Difference> run(const Op& op);

  [[nodiscard]] const std::vector<Heard>& heard() const { return heard_; }
  [[nodiscard]] bool is_waiting(std::size_t connection) const {
    return waiting_.contains(connection);
  }
  [[nodiscard]] std::size_t waiting_count() const { return waiting_.size(); }

 private:
  struct Side {
    transcript::ServerProcess server;
    std::map<std::size_t, std::unique_ptr<Wire>> wires;
  };

  [[nodiscard]] std::optional<Difference> send(std::size_t connection, const std::string& bytes,
                                               std::size_t reply_count);
  [[nodiscard]] std::optional<Difference> half_close(const Op& op);
  [[nodiscard]] std::optional<Difference> hear_waiters();
  [[nodiscard]] std::optional<Difference> compare(std::size_t connection,
                                                  std::array<std::vector<Reply>, 2>& replies);
  [[nodiscard]] static std::map<std::size_t, Reply> read_waiters(
      Side& side, const std::set<std::size_t>& waiting, std::size_t count);
  void close(std::size_t connection);
  void settle();
  Wire& wire(Side& side, std::size_t connection);

  std::array<Side, 2> sides_;
  std::set<std::size_t> waiting_;
  std::vector<Heard> heard_;
  Plant plant_;
};

}  // namespace xylem::differential
