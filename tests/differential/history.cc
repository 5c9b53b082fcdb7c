// Playing again, shrinking and writing down. Shrinking leaves out runs of steps, half of all first,
// and keeps what still differs.

#include "history.h"

#include <algorithm>

#include "transcripts/text.h"

namespace xylem::differential {
namespace {

using std::chrono::steady_clock;

std::string name_of(std::size_t connection) { return {static_cast<char>('A' + connection)}; }

void write_lines(std::string& out, const std::string& start, std::string_view bytes) {
  for (;;) {
    const auto end = bytes.find("\r\n");
    out += start + "< " + transcript::as_source(bytes.substr(0, end)) + '\n';
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 2);
  }
}

void write_op(std::string& out, const Op& op) {
  const std::string name = name_of(op.connection);
  switch (op.kind) {
    case Op::Kind::kSend:
    case Op::Kind::kWait:
      out += name + ">> " + transcript::as_source(op.bytes) + '\n';
      return;
    case Op::Kind::kClose:
      out += name + "!\n";
      return;
    case Op::Kind::kHalfClose:
      out += name + "|\n";
      return;
    case Op::Kind::kDrain:
      out += "! drain\n";
      return;
  }
}

void write_heard(std::string& out, const Heard& heard) {
  const std::string name = name_of(heard.connection);
  if (heard.reply.line.starts_with("OK ")) {
    out += name + "< OK {#}\n";
    return;
  }
  write_lines(out, name, heard.reply.line);
  const bool has_body =
      heard.reply.line.starts_with("RESERVED ") || heard.reply.line.starts_with("FOUND ");
  if (has_body) write_lines(out, name, heard.reply.body);
}

bool still_differs(const std::array<std::string, 2>& binaries, const std::vector<Op>& ops) {
  History unused;
  const auto difference = replay(binaries, ops, unused);
  return difference && !difference->both_silent;
}

std::vector<Op> without(const std::vector<Op>& ops, std::size_t from, std::size_t count) {
  std::vector<Op> rest(ops.begin(), ops.begin() + static_cast<std::ptrdiff_t>(from));
  const std::size_t end = std::min(from + count, ops.size());
  rest.insert(rest.end(), ops.begin() + static_cast<std::ptrdiff_t>(end), ops.end());
  return rest;
}

}  // namespace

std::optional<Difference> replay(const std::array<std::string, 2>& binaries,
                                 const std::vector<Op>& ops, History& history) {
  Pair pair;
  if (auto why = pair.start(binaries); !why.empty())
    return Difference{.what = why, .both_silent = true};
  for (const Op& op : ops) {
    const auto difference = pair.run(op);
    history.ops.push_back(op);
    history.heard.push_back(pair.heard());
    if (difference) return difference;
  }
  return std::nullopt;
}

std::vector<Op> shrink(const std::array<std::string, 2>& binaries, std::vector<Op> ops,
                       std::chrono::seconds time) {
  const auto until = steady_clock::now() + time;
  for (std::size_t size = ops.size() / 2; size > 0; size /= 2) {
    for (std::size_t from = 0; from + 1 < ops.size() && steady_clock::now() < until;) {
      auto shorter = without(ops, from, std::min(size, ops.size() - 1 - from));
      if (still_differs(binaries, shorter)) {
        ops = std::move(shorter);
      } else {
        from += size;
      }
    }
  }
  return ops;
}

std::string as_transcript(const History& history, std::size_t most) {
  std::string out;
  const std::size_t count = history.ops.size();
  for (std::size_t i = count > most ? count - most : 0; i < count; ++i) {
    write_op(out, history.ops[i]);
    for (const Heard& heard : history.heard[i]) write_heard(out, heard);
  }
  return out;
}

}  // namespace xylem::differential
