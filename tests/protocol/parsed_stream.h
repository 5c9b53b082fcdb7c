// ParsedStream: a connection's stream, handed to a Parser in whatever pieces the test likes, and
// what came out of it as text. On the way it demands what must hold of every item and of what is
// left over; a broken demand throws, which fails a doctest case and stops a fuzzer.
//
// An item reads like "delete 5", "UNKNOWN_COMMAND", "put 0 0 60 3", "body abc", "quit".
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "xylem/core/limits.h"
#include "xylem/protocol/parser.h"

namespace xylem::test {

inline void demand(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

inline std::string text_of(std::string_view word, auto... numbers) {
  std::string text(word);
  ((text += ' ', text += std::to_string(numbers)), ...);
  return text;
}

inline std::string named(std::string_view word, std::string_view name) {
  return std::string(word) + " " + std::string(name);
}

inline std::string describe(const PutLine& put) {
  const std::string text = text_of("put", put.pri, put.delay, put.ttr, put.body_bytes);
  if (put.fate == PutFate::kTooBig) return text + ", too big";
  return put.fate == PutFate::kTrailing ? text + ", trailing" : text;
}

// Long bodies by size and hash.
inline std::string describe(const PutBody& put) {
  if (!put.terminated) return "body without CRLF";
  if (put.buffer == nullptr && put.body.size() <= 64) return named("body", put.body);
  const std::string text =
      text_of("body", put.body.size(), std::hash<std::string_view>()(put.body));
  return put.buffer == nullptr ? text : text + " in a buffer";
}

inline std::string describe(const Command& command) {
  return std::visit(
      overloaded{
          [](const PutLine& c) { return describe(c); },
          [](const PutBody& c) { return describe(c); },
          [](const PutSkipped&) { return text_of("skipped"); },
          [](const Use& c) { return named("use", c.tube); },
          [](const Reserve&) { return text_of("reserve"); },
          [](const ReserveWithTimeout& c) { return text_of("reserve-with-timeout", c.seconds); },
          [](const ReserveJob& c) { return text_of("reserve-job", c.id); },
          [](const Delete& c) { return text_of("delete", c.id); },
          [](const Release& c) { return text_of("release", c.id, c.pri, c.delay); },
          [](const Bury& c) { return text_of("bury", c.id, c.pri); },
          [](const Touch& c) { return text_of("touch", c.id); },
          [](const Watch& c) { return named("watch", c.tube); },
          [](const Ignore& c) { return named("ignore", c.tube); },
          [](const Peek& c) { return text_of("peek", c.id); },
          [](const PeekReady&) { return text_of("peek-ready"); },
          [](const PeekDelayed&) { return text_of("peek-delayed"); },
          [](const PeekBuried&) { return text_of("peek-buried"); },
          [](const Kick& c) { return text_of("kick", c.bound); },
          [](const KickJob& c) { return text_of("kick-job", c.id); },
          [](const Stats&) { return text_of("stats"); },
          [](const StatsJob& c) { return text_of("stats-job", c.id); },
          [](const StatsTube& c) { return named("stats-tube", c.tube); },
          [](const ListTubes&) { return text_of("list-tubes"); },
          [](const ListTubeUsed&) { return text_of("list-tube-used"); },
          [](const ListTubesWatched&) { return text_of("list-tubes-watched"); },
          [](const PauseTube& c) { return text_of(named("pause-tube", c.tube), c.delay); },
          [](const Caps& c) { return named("caps", c.admin ? "all" : "safe"); },
          [](const ListJobs& c) {
            const std::string states(c.state ? name_of(*c.state) : "all");
            return text_of(named(named("list-jobs", c.tube), states), c.after, c.count);
          },
          [](const FlushTube& c) {
            return named(named("flush-tube", c.tube), c.state ? name_of(*c.state) : "all");
          },
          [](const MoveJobs& c) {
            const std::string tubes = named(named("move-jobs", c.from), c.to);
            return text_of(named(tubes, name_of(c.state)), c.count);
          },
          [](const Reprioritize& c) { return text_of("reprioritize", c.id, c.pri); },
          [](const PeekReserved&) { return text_of("peek-reserved"); },
          [](const Drain&) { return text_of("drain"); },
          [](const Undrain&) { return text_of("undrain"); },
          [](const StatsTubes&) { return text_of("stats-tubes"); }},
      command);
}

inline std::string describe(const Parser::Refused& refused) {
  const bool unknown = refused.word == ReplyWord::kUnknownCommand;
  demand(unknown || refused.word == ReplyWord::kBadFormat, "a line is refused with a word for it");
  return unknown ? "UNKNOWN_COMMAND" : "BAD_FORMAT";
}

class ParsedStream {
 public:
  explicit ParsedStream(std::uint32_t most_job_bytes = limits::kDefaultJobBytes)
      : parser_(most_job_bytes) {}

  // The next bytes, as one read of the socket brings them.
  void receive(std::string_view bytes) {
    received_ += bytes.size();
    left_ += bytes;
    parse();
  }

  // The same, but read into the parser's own space where it has any.
  void receive_directly(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> space = parser_.body_space();
      if (space.empty()) return receive(bytes);
      demand(left_.empty(), "a long body that is arriving leaves no input");
      demand(space.size() <= std::max<std::size_t>(received_, limits::kFirstBufferBytes),
             "a buffer grows with what arrives");
      const std::size_t count = bytes.copy(space.data(), space.size());
      bytes.remove_prefix(count);
      received_ += count;
      parser_.body_arrived(count);
      parse();
    }
  }

  [[nodiscard]] const std::vector<std::string>& items() const { return items_; }
  [[nodiscard]] const std::string& left() const { return left_; }
  Parser& parser() { return parser_; }

 private:
  // The bytes are copied to a block of exactly their size, so that a sanitizer sees a read beyond
  // it.
  void parse() {
    const std::vector<char> block(left_.begin(), left_.end());
    std::string_view input(block.data(), block.size());
    while (!quit_ && take_item(input, block)) continue;
    left_ = input;
    demand(quit_ || left_.size() <= limits::kInlineBodyBytes + 1, "what is left over has a bound");
  }

  bool take_item(std::string_view& input, const std::vector<char>& block) {
    const Parser::Item item = parser_.next(input);
    demand(input.data() + input.size() == block.data() + block.size(),
           "input is taken at its front");
    if (std::holds_alternative<Parser::Incomplete>(item)) return false;
    if (const auto* const refused = std::get_if<Parser::Refused>(&item)) {
      items_.push_back(describe(*refused));
    } else if (const auto* const command = std::get_if<Command>(&item)) {
      check_views(*command, block);
      items_.push_back(describe(*command));
    } else {
      items_.emplace_back("quit");
      quit_ = true;
    }
    return true;
  }

  static void check_views(const Command& command, std::span<const char> block) {
    std::visit(
        [block](const auto& c) {
          if constexpr (requires { c.tube; }) demand_inside(c.tube, block);
        },
        command);
    const auto* const put = std::get_if<PutBody>(&command);
    if (put == nullptr) return;
    const bool is_long = put->body.size() > limits::kInlineBodyBytes;
    demand((put->buffer != nullptr) == is_long, "long bodies and no others have a buffer");
    if (put->buffer == nullptr) return demand_inside(put->body, block);
    const std::string_view whole = put->buffer->view();
    demand(whole.data() == put->body.data() && whole.size() == put->body.size() + 2,
           "a buffer holds the body and two bytes");
    demand(whole.ends_with("\r\n") == put->terminated, "terminated is said of the last two bytes");
  }

  static void demand_inside(std::string_view view, std::span<const char> block) {
    demand(view.data() >= block.data() && view.data() + view.size() <= block.data() + block.size(),
           "a view points into the input");
  }

  Parser parser_;
  std::string left_;
  std::size_t received_ = 0;
  std::vector<std::string> items_;
  bool quit_ = false;
};

// What a stream of bytes says when it arrives at once, in pieces of one size, or in pieces of any
// size, some of them read directly.
using Items = std::vector<std::string>;

inline Items items_of(std::string_view stream,
                      std::uint32_t most_job_bytes = limits::kDefaultJobBytes) {
  ParsedStream parsed(most_job_bytes);
  parsed.receive(stream);
  return parsed.items();
}

inline Items in_pieces_of(std::size_t bytes, std::string_view stream,
                          std::uint32_t most_job_bytes) {
  ParsedStream parsed(most_job_bytes);
  for (; !stream.empty(); stream.remove_prefix(std::min(bytes, stream.size()))) {
    parsed.receive(stream.substr(0, bytes));
  }
  return parsed.items();
}

inline Items in_random_pieces(std::uint32_t seed, std::string_view stream, std::size_t longest,
                              std::uint32_t most_job_bytes) {
  std::minstd_rand random(seed);
  ParsedStream parsed(most_job_bytes);
  while (!stream.empty()) {
    const std::string_view piece = stream.substr(0, 1 + random() % longest);
    stream.remove_prefix(piece.size());
    random() % 2 == 0 ? parsed.receive(piece) : parsed.receive_directly(piece);
  }
  return parsed.items();
}

}  // namespace xylem::test
