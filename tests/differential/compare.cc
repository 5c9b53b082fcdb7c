// Comparing statistics line by line, up to the last key that beanstalkd has: keys of our own stand
// behind it and are not compared.

#include "compare.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace xylem::differential {
namespace {

constexpr std::string_view kVolatile[] = {"pid",
                                          "version",
                                          "rusage-utime",
                                          "rusage-stime",
                                          "uptime",
                                          "id",
                                          "hostname",
                                          "os",
                                          "platform",
                                          "binlog-oldest-index",
                                          "binlog-current-index",
                                          "binlog-records-migrated",
                                          "binlog-records-written",
                                          "binlog-max-size"};
constexpr std::string_view kTimes[] = {"age", "time-left", "pause-time-left"};
constexpr std::string_view kLastSharedKey = "platform";

struct Line {
  std::string_view key;  // The whole line if it is not "key: value".
  std::string_view value;
};

std::vector<Line> lines_of(std::string_view block) {
  std::vector<Line> lines;
  while (!block.empty()) {
    const auto end = std::min(block.find('\n'), block.size());
    const std::string_view text = block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    const auto colon = text.find(": ");
    if (colon == std::string_view::npos) {
      lines.push_back({text, ""});
    } else {
      lines.push_back({text.substr(0, colon), text.substr(colon + 2)});
    }
    if (lines.back().key == kLastSharedKey) break;
  }
  return lines;
}

template <std::size_t N>
bool is_one_of(const std::string_view (&keys)[N], std::string_view key) {
  return std::find(std::begin(keys), std::end(keys), key) != std::end(keys);
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, value).ptr != end) return std::nullopt;
  return value;
}

std::string_view unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  return text.substr(1, text.size() - 2);
}

// A job's `id` is compared, the server's is not: it is not a plain number there, or stands behind
// `draining`.
bool same_line(const Line& left, const Line& right, bool of_server) {
  if (left.key != right.key) return false;
  if (of_server && is_one_of(kVolatile, left.key)) return true;
  if (is_one_of(kTimes, left.key)) {
    const auto a = number(left.value);
    const auto b = number(right.value);
    return a && b && std::abs(*a - *b) <= 1;
  }
  return unquoted(left.value) == unquoted(right.value);
}

bool same_block(std::string_view left, std::string_view right) {
  const auto a = lines_of(left);
  const auto b = lines_of(right);
  const bool of_server = number_in(left, "cmd-stats").has_value();
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Line& x, const Line& y) { return same_line(x, y, of_server); });
}

}  // namespace

bool same(const Reply& left, const Reply& right) {
  if (left.line.starts_with("OK ") && right.line.starts_with("OK ")) {
    return same_block(left.body, right.body);
  }
  return left == right;
}

std::optional<std::int64_t> number_in(std::string_view block, std::string_view key) {
  for (const Line& line : lines_of(block)) {
    if (line.key == key) return number(line.value);
  }
  return std::nullopt;
}

}  // namespace xylem::differential
