// Doing a step on both servers. The first server is the one that is believed: what it said is what
// the generator learns from.

#include "pair.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>

#include "compare.h"

namespace xylem::differential {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{3'000};

std::string shown(const Reply& reply) {
  return reply.body.empty() ? reply.line : reply.line + " with the body\n" + reply.body;
}

std::string shown(const std::vector<Reply>& replies, std::size_t at) {
  return at < replies.size() ? shown(replies[at]) : "nothing";
}

}  // namespace

std::string Pair::start(const std::array<std::string, 2>& binaries) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto why = sides_[i].server.start(binaries[i], {}); !why.empty()) return why;
  }
  return "";
}

std::optional<Difference> Pair::run(const Op& op) {
  heard_.clear();
  std::optional<Difference> difference;
  switch (op.kind) {
    case Op::Kind::kSend:
      difference = send(op.connection, op.bytes, op.reply_count);
      break;
    case Op::Kind::kWait:
      difference = send(op.connection, op.bytes, 0);
      waiting_.insert(op.connection);
      settle();
      break;
    case Op::Kind::kClose:
      close(op.connection);
      break;
    case Op::Kind::kHalfClose:
      difference = half_close(op);
      break;
    case Op::Kind::kDrain:
      settle();
      for (Side& side : sides_) side.server.signal(SIGUSR1);
      settle();
      break;
  }
  if (difference || waiting_.empty()) return difference;
  return hear_waiters();
}

std::optional<Difference> Pair::send(std::size_t connection, const std::string& bytes,
                                     std::size_t reply_count) {
  for (Side& side : sides_) wire(side, connection).send(bytes);
  std::array<std::vector<Reply>, 2> replies;
  for (std::size_t i = 0; i < 2; ++i) {
    while (replies[i].size() < reply_count) {
      auto reply = wire(sides_[i], connection).read(kPatience);
      if (!reply) break;
      replies[i].push_back(std::move(*reply));
    }
  }
  if (plant_) plant_(replies[1]);
  if (auto difference = compare(connection, replies)) return difference;
  if (replies[0].size() < reply_count) {
    return Difference{.what = "neither server answers", .both_silent = true};
  }
  return std::nullopt;
}

std::optional<Difference> Pair::compare(std::size_t connection,
                                        std::array<std::vector<Reply>, 2>& replies) {
  const std::size_t count = std::max(replies[0].size(), replies[1].size());
  for (std::size_t i = 0; i < count; ++i) {
    const bool both = i < replies[0].size() && i < replies[1].size();
    if (!both || !same(replies[0][i], replies[1][i])) {
      return Difference{.what = "the first server says: " + shown(replies[0], i) +
                                "\nthe second says: " + shown(replies[1], i)};
    }
    if (connection != kObserver) heard_.push_back({connection, replies[0][i]});
  }
  return std::nullopt;
}

// What is heard after our last word, and that the server closes.
std::optional<Difference> Pair::half_close(const Op& op) {
  const std::size_t reply_count = waiting_.erase(op.connection);
  for (Side& side : sides_) wire(side, op.connection).half_close();
  if (auto difference = send(op.connection, "", reply_count)) return difference;
  std::array<bool, 2> ended{};
  for (std::size_t i = 0; i < 2; ++i) ended[i] = wire(sides_[i], op.connection).at_end(kPatience);
  close(op.connection);
  if (ended[0] && ended[1]) return std::nullopt;
  return Difference{.what = "a half-closed connection stays open",
                    .both_silent = ended[0] == ended[1]};
}

// Reads what came to those who waited, as many as do not wait any more.
std::optional<Difference> Pair::hear_waiters() {
  std::array<std::size_t, 2> served{};
  for (std::size_t i = 0; i < 2; ++i) {
    Wire& observer = wire(sides_[i], kObserver);
    observer.send("stats\r\n");
    const auto reply = observer.read(kPatience);
    const auto now = reply ? number_in(reply->body, "current-waiting") : std::nullopt;
    if (!now) return Difference{.what = "no statistics for the observer"};
    const auto still = static_cast<std::size_t>(*now);
    served[i] = waiting_.size() - std::min(still, waiting_.size());
  }
  std::array<std::map<std::size_t, Reply>, 2> replies;
  for (std::size_t i = 0; i < 2; ++i) replies[i] = read_waiters(sides_[i], waiting_, served[i]);
  for (const std::size_t connection : std::set<std::size_t>(waiting_)) {
    std::array<std::vector<Reply>, 2> pair;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto found = replies[i].find(connection);
      if (found != replies[i].end()) pair[i].push_back(found->second);
    }
    if (auto difference = compare(connection, pair)) return difference;
    if (!pair[0].empty()) waiting_.erase(connection);
  }
  return std::nullopt;
}

std::map<std::size_t, Reply> Pair::read_waiters(Side& side, const std::set<std::size_t>& waiting,
                                                std::size_t count) {
  std::map<std::size_t, Reply> replies;
  while (replies.size() < count) {
    std::vector<pollfd> polled;
    std::vector<std::size_t> who;
    for (const std::size_t connection : waiting) {
      if (replies.contains(connection)) continue;
      polled.push_back({.fd = side.wires.at(connection)->fd(), .events = POLLIN, .revents = 0});
      who.push_back(connection);
    }
    if (::poll(polled.data(), polled.size(), static_cast<int>(kPatience.count())) <= 0) break;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      replies[who[i]] = side.wires.at(who[i])->read(kPatience).value_or(Reply{"the end", ""});
    }
  }
  return replies;
}

void Pair::close(std::size_t connection) {
  waiting_.erase(connection);
  for (Side& side : sides_) side.wires.erase(connection);
  settle();
}

void Pair::settle() {
  for (Side& side : sides_) side.server.settle();
}

Wire& Pair::wire(Side& side, std::size_t connection) {
  auto& wire = side.wires[connection];
  if (!wire) wire = std::make_unique<Wire>(side.server.connect());
  return *wire;
}

}  // namespace xylem::differential
