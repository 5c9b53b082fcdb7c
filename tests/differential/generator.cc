// The generator's steps and lines. What stands in the tables of broken lines is refused in every
// state, so each has exactly one reply.

#include "generator.h"

#include <algorithm>
#include <charconv>
#include <sstream>

namespace xylem::differential {
namespace {

constexpr std::string_view kTubes[] = {"default", "a", "b", "c", "d-e", "x;y.$_()"};

// Lines that are always refused, whatever the state.
constexpr std::string_view kBrokenLines[] = {
    "",
    " ",
    "put",
    "put ",
    "peek",
    "peek ",
    "peek  ",
    "peek 1x",
    "peek -1",
    "peek +1",
    "peek 18446744073709551616",
    "delete",
    "delete 1 ",
    "delete 1 2",
    "release 1",
    "release 1 2",
    "release 1 2 3 ",
    "release 1 4294967296 0",
    "release 1 0 4294967296",
    "release a 0 0",
    "bury 1",
    "bury 1 4294967296",
    "bury 1 x",
    "kick",
    "kick x",
    "kick ",
    "kick 18446744073709551616",
    "kick-job",
    "kick-job x",
    "touch",
    "touch 1a",
    "use",
    "use -a",
    "use  a",
    "use a ",
    "use a,b",
    "watch -",
    "watch a b",
    "ignore ",
    "ignore !",
    "stats-tube",
    "stats-tube a ",
    "stats-job",
    "stats-job x",
    "statsx",
    "stats ",
    "list-tube",
    "list-tubesx",
    "list-tube-used ",
    "list-tubes-watched x",
    "peek-ready ",
    "peek-delayedx",
    "peek-buried 1",
    "reservex",
    "reserve ",
    "reserve-job",
    "reserve-job 1 ",
    "pause-tube",
    "pause-tube a",
    "pause-tube a -1",
    "pause-tube a 4294967296",
    "pause-tube -a 1",
    "pause-tube a,b 1",
    "QUIT",
    "PUT 0 0 0 0",
    "qui",
};

constexpr std::string_view kBrokenPuts[] = {
    "put 0 0 1000",         "put 0 0 1000 ",           "put 0 0 1000 -1",
    "put 0 0 1000 x",       "put 4294967296 0 1000 0", "put 0 4294967296 1000 0",
    "put 0 0 4294967296 0", "put 0 0 1000 4294967296", "put -1 0 1000 0",
    "put +1 0 1000 0",      "put a 0 1000 0",          "put 0\t0 1000 0",
    "put 0 0 1000 1 ",      "put 0 0 1000 1 x",        "put 0x1 0 1000 1",
};

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The second word of a reply.
std::uint64_t id_in(std::string_view line) { return number(line.substr(line.find(' ') + 1)); }

}  // namespace

Op Generator::next(const Pair& pair) {
  if (would_wait_ && may_wait(asked_, pair)) {
    would_wait_ = false;
    ++command_count_;
    return {
        .kind = Op::Kind::kWait, .connection = asked_, .bytes = "reserve\r\n", .reply_count = 0};
  }
  would_wait_ = false;
  const bool somebody_waits = pair.waiting_count() > 0;
  const std::size_t connection = idle_connection(pair);
  if (somebody_waits && one_in(20)) {
    for (std::size_t i = 0; i < kConnections; ++i) {
      if (!pair.is_waiting(i)) continue;
      const auto kind = one_in(2) ? Op::Kind::kClose : Op::Kind::kHalfClose;
      return {.kind = kind, .connection = i, .bytes = "", .reply_count = 0};
    }
  }
  if (!somebody_waits && one_in(60)) {
    const auto kind = one_in(2) ? Op::Kind::kClose : Op::Kind::kHalfClose;
    return {.kind = kind, .connection = connection, .bytes = "", .reply_count = 0};
  }
  if (pair.waiting_count() < 2 && one_in(12)) return question_before_waiting(connection);
  return batch(connection, somebody_waits);
}

std::size_t Generator::idle_connection(const Pair& pair) {
  for (;;) {
    const auto connection = static_cast<std::size_t>(below(kConnections));
    if (!pair.is_waiting(connection)) return connection;
  }
}

// Does nobody else wait for one of its tubes?
bool Generator::may_wait(std::size_t connection, const Pair& pair) const {
  for (std::size_t other = 0; other < kConnections; ++other) {
    if (!pair.is_waiting(other)) continue;
    for (const std::string& name : watched_.at(connection)) {
      if (watched_.at(other).contains(name)) return false;
    }
  }
  return true;
}

// Would a reserve wait, and for what? The answer is in the replies.
Op Generator::question_before_waiting(std::size_t connection) {
  asked_ = connection;
  command_count_ += 4;
  const std::string mine = "w" + std::to_string(connection);
  const std::string bytes =
      one_in(2) ? "ignore default\r\nwatch a\r\n" : "watch " + mine + "\r\nignore default\r\n";
  return {.kind = Op::Kind::kSend,
          .connection = connection,
          .bytes = bytes + "list-tubes-watched\r\nreserve-with-timeout 0\r\n",
          .reply_count = 4};
}

Op Generator::batch(std::size_t connection, bool somebody_waits) {
  Op op{.kind = Op::Kind::kSend, .connection = connection, .bytes = "", .reply_count = 0};
  const std::uint64_t count = 1 + below(8);
  if (one_in(40)) {
    // Alone, because beanstalkd's way to skip it depends on where its reads begin.
    const Item line = overlong_line();
    command_count_ += 1;
    op.bytes = line.bytes;
    op.reply_count = line.reply_count;
    return op;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const Item next = item(connection, somebody_waits);
    command_count_ += 1;
    op.bytes += next.bytes;
    op.reply_count += next.reply_count;
  }
  return op;
}

Generator::Item Generator::item(std::size_t connection, bool somebody_waits) {
  const std::uint64_t dice = below(100);
  if (dice < 25) return put();
  if (dice < 28) return broken_put();
  if (dice < 36) return broken_line();
  if (dice < 44) return mutated_line(connection);
  if (dice < 58) return {.bytes = "reserve-with-timeout 0\r\n"};
  if (dice < 62) {
    const std::string bound = somebody_waits ? std::to_string(below(2)) : std::to_string(below(8));
    return {.bytes = "kick " + bound + "\r\n"};
  }
  if (dice < 85) return {.bytes = job_line(connection) + "\r\n"};
  return {.bytes = simple_line() + "\r\n"};
}

Generator::Item Generator::put() {
  const std::uint64_t size = one_in(200) ? 65'535 : one_in(30) ? 4'000 + below(3'000) : below(80);
  const std::string ttr = std::to_string(1'000 + below(100'000));
  return {.bytes = "put " + pri() + " " + delay() + " " + ttr + " " + std::to_string(size) +
                   "\r\n" + body(size) + "\r\n"};
}

Generator::Item Generator::broken_put() {
  switch (below(4)) {
    case 0:
      return {.bytes = std::string(any_of(kBrokenPuts)) + "\r\n"};
    case 1:  // The body is taken for a command.
      return {.bytes = "put 0 0 1000 1 \r\nz\r\n", .reply_count = 2};
    case 2:  // EXPECTED_CRLF, and what is left of the body.
      return {.bytes = "put 0 0 1000 1\r\nzzz\r\n", .reply_count = 2};
    default:
      return {.bytes = "put 0 0 1000 65536\r\n" + body(65'536) + "\r\n"};
  }
}

Generator::Item Generator::broken_line() {
  return {.bytes = std::string(any_of(kBrokenLines)) + "\r\n"};
}

// A valid line with one byte changed, of those commands that nothing bad can be made of.
Generator::Item Generator::mutated_line(std::size_t connection) {
  const std::string ids = id(connection);
  const std::string lines[] = {"delete " + ids,      "touch " + ids,         "peek " + ids,
                               "kick-job " + ids,    "bury " + ids + " 5",   "stats-job " + ids,
                               "reserve-job " + ids, "use " + tube(),        "watch " + tube(),
                               "ignore " + tube(),   "stats-tube " + tube(), "list-tubes",
                               "peek-ready",         "peek-buried",          "stats"};
  std::string line = any_of(lines);
  const auto at = static_cast<std::size_t>(below(line.size()));
  auto byte = static_cast<char>(one_in(3) ? below(256) : 32 + below(95));
  if (byte == '\r') byte = '\n';
  switch (below(3)) {
    case 0:
      line[at] = byte;
      break;
    case 1:
      line.insert(at, 1, byte);
      break;
    default:
      line.erase(at, 1);
      break;
  }
  return {.bytes = line + "\r\n"};
}

Generator::Item Generator::overlong_line() {
  constexpr std::size_t kBlock = 224;
  auto size = static_cast<std::size_t>(kBlock + 2 + below(1'000));
  if (size % kBlock == 1) ++size;
  return {.bytes = std::string(size - 2, static_cast<char>('a' + below(26))) + "\r\n"};
}

std::string Generator::job_line(std::size_t connection) {
  const std::string job = id(connection);
  switch (below(9)) {
    case 0:
    case 1:
      return "delete " + job;
    case 2:
    case 3:
      return "release " + job + " " + pri() + " " + delay();
    case 4:
      return "bury " + job + " " + pri();
    case 5:
      return "touch " + job;
    case 6:
      return "kick-job " + job;
    case 7:
      return "reserve-job " + job;
    default:
      return one_in(2) ? "peek " + job : "stats-job " + job;
  }
}

std::string Generator::simple_line() {
  switch (below(13)) {
    case 0:
    case 1:
      return "use " + tube();
    case 2:
      return "watch " + tube();
    case 3:
      return "ignore " + tube();
    case 4:
      return "stats-tube " + tube();
    case 5:
      return "stats";
    case 6:
      return "list-tubes";
    case 7:
      return "list-tubes-watched";
    case 8:
      return "list-tube-used";
    case 9:
      return "peek-ready";
    case 10:
      return "peek-delayed";
    case 11:
      return "peek-buried";
    default:
      return "pause-tube " + tube() + (one_in(4) ? " 1000" : " 0");
  }
}

// Often one that this connection has reserved, else a recent one, seldom one that never was.
std::string Generator::id(std::size_t connection) {
  const auto& mine = reserved_[connection];
  if (!mine.empty() && !one_in(3)) return std::to_string(any_of(mine));
  if (one_in(50)) return "18446744073709551615";
  const std::uint64_t reach = std::min<std::uint64_t>(last_id_, one_in(5) ? last_id_ : 60);
  return std::to_string(last_id_ + 2 - below(reach + 2));
}

std::string Generator::pri() {
  if (one_in(20)) return "4294967295";
  return std::to_string(one_in(2) ? below(4) : below(2'000));
}

// 0, or a multiple of 100 seconds that no other job has.
std::string Generator::delay() {
  if (!one_in(4)) return "0";
  constexpr std::uint64_t kOdd = 7'919;  // Spreads the counter over all multiples, each once.
  const std::uint64_t place = (++delay_count_ * kOdd) % 1'000'003;
  return std::to_string(1'000 + 100 * place);
}

std::string Generator::tube() {
  if (one_in(15)) return "t" + std::to_string(below(50));
  return std::string(any_of(kTubes));
}

std::string Generator::body(std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random_());
  return bytes;
}

void Generator::learn(const Op& op, const std::vector<Heard>& heard) {
  if (op.kind == Op::Kind::kClose || op.kind == Op::Kind::kHalfClose) {
    reserved_[op.connection].clear();
  }
  for (const auto& [connection, reply] : heard) {
    auto& mine = reserved_[connection];
    if (reply.line.starts_with("INSERTED ")) last_id_ = std::max(last_id_, id_in(reply.line));
    if (reply.line.starts_with("RESERVED ")) mine.push_back(id_in(reply.line));
    if (mine.size() > 8) mine.erase(mine.begin());
    if (reply.line.starts_with("OK ") && reply.body.starts_with("---\n- ")) {
      std::istringstream lines(reply.body);
      watched_[connection].clear();
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("- ")) watched_[connection].insert(line.substr(2));
      }
    }
  }
  would_wait_ = op.kind == Op::Kind::kSend && op.connection == asked_ && !heard.empty() &&
                op.bytes.ends_with("list-tubes-watched\r\nreserve-with-timeout 0\r\n") &&
                heard.back().connection == asked_ && heard.back().reply.line == "TIMED_OUT";
}

}  // namespace xylem::differential
