// Plays a conversation in a world and says where it went otherwise than written.
//
// Order between connections is kept: before another connection does something the world settles. At
// the end nothing may be left unread, so a transcript cannot forget a reply.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "script.h"
#include "world.h"

namespace xylem::transcript {

struct Failure {
  std::string where;
  std::string step;
  std::string got;
};

class Player {
 public:
  // `oracle` chooses which alternatives count. The world is started and stopped by play().
  Player(World& world, bool oracle) : world_(world), oracle_(oracle) {}

  [[nodiscard]] std::optional<Failure> play(const Script& script);

 private:
  struct Peer {
    std::string inbox;  // Arrived and not yet expected.
    std::string body;   // What is left of the last OK block; lines end in LF.
    std::string block;  // The whole last OK block.
    bool open = false;
  };

  [[nodiscard]] bool concerns_us(const Step& step) const;
  [[nodiscard]] std::optional<std::string> run(const Step& step);
  void keep_order(const Step& step);
  Peer& peer(const Step& step);

  [[nodiscard]] std::optional<std::string> expect_line(const Step& step);
  [[nodiscard]] std::optional<std::string> read_block(const Step& step, std::string_view line);
  [[nodiscard]] std::optional<std::string> find_in_block(const Step& step);
  [[nodiscard]] std::optional<std::string> next_of_block(const Step& step);
  [[nodiscard]] std::optional<std::string> expect_quiet(const Step& step);
  [[nodiscard]] std::optional<std::string> expect_closed(const Step& step);
  [[nodiscard]] std::optional<std::string> left_over();
  [[nodiscard]] bool fill(const std::string& connection, Peer& peer, std::size_t size);

  World& world_;
  bool oracle_;
  std::map<std::string, Peer> peers_;
  std::string last_actor_;
};

}  // namespace xylem::transcript
