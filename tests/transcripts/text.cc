// Reading, matching and writing the text of transcript lines. Matching tries the shortest run for a
// pattern first and goes back if the rest does not fit.

#include "text.h"

#include <charconv>

namespace xylem::transcript {
namespace {

constexpr std::size_t kMaxRepeat = std::size_t{1} << 26;
constexpr std::size_t kRunWorthFolding = 20;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A reader over the source; each step appends to the text or sets the error.
class Reader {
 public:
  Reader(std::string_view source, std::string& error) : rest_(source), error_(error) {}

  std::optional<Text> read() {
    while (!rest_.empty() && error_.empty()) {
      if (rest_.front() == '{') {
        brace();
      } else {
        append(one_byte());
      }
    }
    if (!error_.empty()) return std::nullopt;
    return text_;
  }

 private:
  void append(std::string_view bytes) {
    if (text_.empty() || text_.back().kind != Part::Kind::kLiteral) text_.push_back({});
    text_.back().literal += bytes;
  }

  void append(char byte) { append(std::string_view(&byte, 1)); }

  // The next byte, plain or escaped.
  char one_byte() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c != '\\') return c;
    if (rest_.empty()) return fail("a backslash at the end of the line");
    const char kind = rest_.front();
    rest_.remove_prefix(1);
    switch (kind) {
      case 'r':
        return '\r';
      case 'n':
        return '\n';
      case 't':
        return '\t';
      case 's':
        return ' ';
      case '0':
        return '\0';
      case '\\':
        return '\\';
      case 'x':
        return hex_byte();
      default:
        return fail("an unknown escape");
    }
  }

  char hex_byte() {
    unsigned value = 0;
    if (rest_.size() < 2) return fail("\\x needs two digits");
    const char* end = rest_.data() + 2;
    if (std::from_chars(rest_.data(), end, value, 16).ptr != end)
      return fail("\\x needs two digits");
    rest_.remove_prefix(2);
    return static_cast<char>(value);
  }

  char fail(std::string_view why) {
    error_ = why;
    return '\0';
  }

  void brace() {
    const auto close = rest_.find('}');
    if (close == std::string_view::npos) {
      fail("a brace that is never closed");
      return;
    }
    const std::string_view inside = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    if (inside == "#") {
      text_.push_back({Part::Kind::kDigits, ""});
    } else if (inside == "*") {
      text_.push_back({Part::Kind::kAnything, ""});
    } else {
      repeat(inside);
    }
  }

  void repeat(std::string_view inside) {
    const auto star = inside.rfind('*');
    std::size_t count = 0;
    const char* end = inside.data() + inside.size();
    if (star == std::string_view::npos ||
        std::from_chars(inside.data() + star + 1, end, count).ptr != end || count > kMaxRepeat) {
      fail("braces hold #, * or TEXT*COUNT");
      return;
    }
    const auto unit_text = parse_text(inside.substr(0, star), error_);
    const auto unit = unit_text ? bytes_of(*unit_text) : std::nullopt;
    for (std::size_t i = 0; unit && i < count; ++i) append(*unit);
  }

  std::string_view rest_;  // Into the source that the caller keeps alive.
  std::string& error_;
  Text text_;
};

bool matches_from(const Text& text, std::size_t at, std::string_view line) {
  if (at == text.size()) return line.empty();
  const Part& part = text[at];
  if (part.kind == Part::Kind::kLiteral) {
    return line.starts_with(part.literal) &&
           matches_from(text, at + 1, line.substr(part.literal.size()));
  }
  const bool digits = part.kind == Part::Kind::kDigits;
  for (std::size_t taken = 0; taken <= line.size(); ++taken) {
    if (digits && taken > 0 && !is_digit(line[taken - 1])) return false;
    const bool enough = !digits || taken > 0;
    if (enough && matches_from(text, at + 1, line.substr(taken))) return true;
  }
  return false;
}

void append_source(std::string& out, char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  if (byte == '\r') {
    out += "\\r";
  } else if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else if (byte == '\\') {
    out += "\\\\";
  } else if (value < 0x20 || value >= 0x7f || byte == '{' || byte == '}') {
    out += "\\x";
    out += kHex[value >> 4];
    out += kHex[value & 15];
  } else {
    out += byte;
  }
}

}  // namespace

std::optional<Text> parse_text(std::string_view source, std::string& error) {
  error.clear();
  return Reader(source, error).read();
}

std::optional<std::string> bytes_of(const Text& text) {
  std::string bytes;
  for (const Part& part : text) {
    if (part.kind != Part::Kind::kLiteral) return std::nullopt;
    bytes += part.literal;
  }
  return bytes;
}

bool matches(const Text& text, std::string_view line) { return matches_from(text, 0, line); }

std::string as_source(std::string_view bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = bytes.find_first_not_of(bytes[at], at);
    if (end == std::string_view::npos) end = bytes.size();
    if (end - at >= kRunWorthFolding) {
      out += '{';
      append_source(out, bytes[at]);
      out += '*' + std::to_string(end - at) + '}';
      at = end;
    } else {
      append_source(out, bytes[at++]);
    }
  }
  if (!out.empty() && out.back() == ' ') out.replace(out.size() - 1, 1, "\\s");
  return out;
}

}  // namespace xylem::transcript
