// The steps of a conversation, one function each. A step answers nothing if it went as written,
// else what came instead.

#include "player.h"

#include <charconv>

namespace xylem::transcript {
namespace {

constexpr std::string_view kCrlf = "\r\n";
constexpr std::size_t kShownBytes = 300;

std::string shown(std::string_view bytes) {
  if (bytes.empty()) return "nothing";
  return as_source(bytes.substr(0, kShownBytes)) + (bytes.size() > kShownBytes ? "..." : "");
}

// The number in "OK <n>", if the line is that.
std::optional<std::size_t> block_size(std::string_view line) {
  if (!line.starts_with("OK ")) return std::nullopt;
  std::size_t size = 0;
  const char* end = line.data() + line.size();
  if (std::from_chars(line.data() + 3, end, size).ptr != end) return std::nullopt;
  return size;
}

}  // namespace

std::optional<Failure> Player::play(const Script& script) {
  peers_.clear();
  last_actor_.clear();
  if (auto why = world_.start(script.options); !why.empty()) return Failure{script.name, "", why};
  for (const Step& step : script.steps) {
    if (!concerns_us(step)) continue;
    if (auto got = run(step)) {
      return Failure{script.name + ":" + std::to_string(step.line), step.source, *got};
    }
  }
  if (!(oracle_ && script.oracle_skips)) {
    if (auto got = left_over()) return Failure{script.name, "(the end)", *got};
  }
  if (auto why = world_.stop(); !why.empty()) return Failure{script.name, "(the end)", why};
  return std::nullopt;
}

bool Player::concerns_us(const Step& step) const {
  switch (step.audience) {
    case Audience::kEveryone:
      return true;
    case Audience::kXylem:
      return !oracle_;
    case Audience::kOracle:
      return oracle_;
  }
  return true;
}

// Empty if the step went as written, else what came instead.
std::optional<std::string> Player::run(const Step& step) {
  switch (step.verb) {
    case Verb::kOpen:
      keep_order(step);
      peer(step);
      return std::nullopt;
    case Verb::kSend:
      keep_order(step);
      peer(step);
      world_.send(step.connection, bytes_of(step.text).value_or(""));
      return std::nullopt;
    case Verb::kHalfClose:
      keep_order(step);
      peer(step);
      world_.half_close(step.connection);
      return std::nullopt;
    case Verb::kClose:
      keep_order(step);
      world_.close(step.connection);
      peers_.erase(step.connection);
      return std::nullopt;
    case Verb::kPass:
      world_.settle();
      world_.pass(step.time);
      return std::nullopt;
    case Verb::kStall:
      world_.settle();
      world_.stall(step.time);
      return std::nullopt;
    case Verb::kDrain:
      world_.settle();
      world_.drain();
      world_.settle();
      return std::nullopt;
    case Verb::kExpect:
      return expect_line(step);
    case Verb::kBodyFind:
      return find_in_block(step);
    case Verb::kBodyNext:
      return next_of_block(step);
    case Verb::kBodyEnd:
      return peer(step).body.empty() ? std::nullopt : std::optional(shown(peer(step).body));
    case Verb::kQuiet:
      return expect_quiet(step);
    case Verb::kClosed:
      return expect_closed(step);
  }
  return std::nullopt;
}

void Player::keep_order(const Step& step) {
  if (!last_actor_.empty() && last_actor_ != step.connection) world_.settle();
  last_actor_ = step.connection;
}

Player::Peer& Player::peer(const Step& step) {
  Peer& peer = peers_[step.connection];
  if (!peer.open) world_.open(step.connection);
  peer.open = true;
  return peer;
}

// Waits until the inbox holds `size` bytes; false if they do not come.
bool Player::fill(const std::string& connection, Peer& peer, std::size_t size) {
  while (peer.inbox.size() < size) {
    const std::string more = world_.receive(connection);
    if (more.empty()) return false;
    peer.inbox += more;
  }
  return true;
}

std::optional<std::string> Player::expect_line(const Step& step) {
  Peer& us = peer(step);
  std::size_t end = us.inbox.find(kCrlf);
  while (end == std::string::npos) {
    if (!fill(step.connection, us, us.inbox.size() + 1)) return shown(us.inbox);
    end = us.inbox.find(kCrlf);
  }
  const std::string line = us.inbox.substr(0, end);
  us.inbox.erase(0, end + kCrlf.size());
  if (block_size(line)) {
    if (auto wrong = read_block(step, line)) return wrong;
  }
  if (matches(step.text, line)) return std::nullopt;
  return shown(line);
}

std::optional<std::string> Player::read_block(const Step& step, std::string_view line) {
  Peer& us = peer(step);
  const std::size_t size = block_size(line).value_or(0);
  if (!fill(step.connection, us, size + kCrlf.size()) ||
      us.inbox.compare(size, kCrlf.size(), kCrlf) != 0) {
    return "a block that is not as long as " + shown(line) + " says: " + shown(us.inbox);
  }
  us.block = us.inbox.substr(0, size);
  us.body = us.block;
  us.inbox.erase(0, size + kCrlf.size());
  return std::nullopt;
}

std::optional<std::string> Player::find_in_block(const Step& step) {
  const std::string& block = peer(step).block;
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t end = std::min(block.find('\n', at), block.size());
    if (matches(step.text, std::string_view(block).substr(at, end - at))) return std::nullopt;
    at = end + 1;
  }
  return "a block without it:\n" + block;
}

std::optional<std::string> Player::next_of_block(const Step& step) {
  std::string& body = peer(step).body;
  const std::size_t end = body.find('\n');
  if (end == std::string::npos) return shown(body);
  const std::string line = body.substr(0, end);
  body.erase(0, end + 1);
  if (matches(step.text, line)) return std::nullopt;
  return shown(line);
}

std::optional<std::string> Player::expect_quiet(const Step& step) {
  Peer& us = peer(step);
  us.inbox += world_.arrived(step.connection);
  if (us.inbox.empty()) return std::nullopt;
  return shown(us.inbox);
}

std::optional<std::string> Player::expect_closed(const Step& step) {
  Peer& us = peer(step);
  us.inbox += world_.arrived(step.connection);
  if (!us.inbox.empty()) return shown(us.inbox);
  if (!world_.ended(step.connection)) return "a connection that stays open";
  return std::nullopt;
}

std::optional<std::string> Player::left_over() {
  for (auto& [name, peer] : peers_) {
    peer.inbox += world_.arrived(name);
    if (!peer.inbox.empty()) return name + " has unread: " + shown(peer.inbox);
  }
  return std::nullopt;
}

}  // namespace xylem::transcript
