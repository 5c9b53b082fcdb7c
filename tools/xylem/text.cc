// Escaping works on characters of UTF-8, since a byte of 0x9b is an escape sequence on some
// terminals alone, and a harmless part of a letter inside one.
#include "text.h"

#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cwchar>
#include <limits>

#include "xylem/steers_terminal.h"

namespace xylem::tool {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

// A character at the front of a text: how many bytes it has, 0 if it is not UTF-8.
struct Character {
  std::size_t size = 0;
  std::uint32_t code = 0;
};

Character front_of(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return {1, first};
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  std::uint32_t code = first & (0xffU >> (size + 1));
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte_at(text, at) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte_at(text, at) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[size] || code > 0x10ffff || surrogate) return {};
  return {size, code};
}

std::string escape_of(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\r") return "\\r";
  if (bytes == "\t") return "\\t";
  std::string text;
  for (const char c : bytes) text += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
  return text;
}

// Combining characters take no column: so many bytes of them are enough.
constexpr std::size_t kMostBytesAColumn = 16;

// In a locale of UTF-8. What the C library does not know is taken as what stands around it.
std::size_t columns_of(std::uint32_t code) {
  constexpr std::uint32_t kWideFormSelector = 0xfe0f;  // of the character before it
  constexpr std::uint32_t kFirstEmoji = 0x1f000;
  if (code < 0x7f || code == kWideFormSelector) return 1;
  const int columns = wcwidth(static_cast<wchar_t>(code));
  if (columns < 0) return code < kFirstEmoji ? 1 : 2;
  return static_cast<std::size_t>(columns);
}

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct Unit {
  std::string_view suffix;
  std::int64_t milliseconds;
};
constexpr std::array<Unit, 6> kUnits{
    {{"", 1'000}, {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};

Error no_time(std::string_view text, std::string_view why) {
  return {.text = fmt::format("'{}' {}", escaped(text), why), .exit_code = 2};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const Character front = front_of(text);
    const std::string_view bytes = text.substr(0, front.size == 0 ? 1 : front.size);
    const bool shown = front.size > 0 && !steers_terminal(front.code);
    safe += shown ? std::string(bytes) : escape_of(bytes);
    text.remove_prefix(bytes.size());
  }
  return safe;
}

std::string escaped_json(std::string json) {
  if (std::ranges::all_of(json, [](char c) { return c >= ' ' && c <= '~'; })) return json;
  std::string safe;
  for (std::string_view left = json; !left.empty();) {
    const Character next = front_of(left);
    const std::string_view bytes = left.substr(0, std::max<std::size_t>(next.size, 1));
    if (steers_terminal(next.code)) {
      fmt::format_to(std::back_inserter(safe), "\\u{:04x}", next.code);
    } else {
      safe += bytes;
    }
    left.remove_prefix(bytes.size());
  }
  return safe;
}

std::string_view front(std::string_view text, std::size_t characters) {
  std::size_t end = 0;
  while (end < text.size() && characters-- > 0) {
    end += std::max<std::size_t>(front_of(text.substr(end)).size, 1);
  }
  return text.substr(0, end);
}

std::string excerpt(std::string_view text, std::size_t width) {
  std::string safe;
  std::size_t columns = 0;
  std::size_t beside_ellipsis = 0;  // bytes of `safe`
  while (!text.empty()) {
    const std::string_view bytes = text.substr(0, std::max<std::size_t>(front_of(text).size, 1));
    const std::string character = escaped(bytes);
    columns += width_of(character);
    if (columns > width || safe.size() > width * kMostBytesAColumn) {
      return safe.substr(0, beside_ellipsis) + "…";
    }
    safe += character;
    if (columns < width) beside_ellipsis = safe.size();
    text.remove_prefix(bytes.size());
  }
  return safe;
}

std::size_t width_of(std::string_view text) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = uselocale(utf8);
  std::size_t width = 0;
  while (!text.empty()) {
    const Character front = front_of(text);
    width += columns_of(front.code);
    text.remove_prefix(std::max<std::size_t>(front.size, 1));
  }
  uselocale(before);
  return width;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character front = front_of(text);
    if (front.size == 0) return false;
    text.remove_prefix(front.size);
  }
  return true;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t group = static_cast<std::uint32_t>(byte_at(bytes, at)) << 16U |
                                static_cast<std::uint32_t>(byte_at(bytes, at + 1)) << 8U |
                                byte_at(bytes, at + 2);
    const std::size_t given = std::min<std::size_t>(bytes.size() - at, 3);
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= given ? kBase64[group >> (18 - 6 * i) & 0x3fU] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = kBase64.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    group = group << 6U | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> static_cast<unsigned>(bits) & 0xffU);
  }
  return bytes;
}

Result<std::chrono::milliseconds> parse_time(std::string_view text) {
  const std::size_t digits = std::min(text.size(), text.find_first_not_of("0123456789"));
  const std::optional<std::uint64_t> number = parse_number(text.substr(0, digits));
  for (const Unit& unit : kUnits) {
    if (!number || unit.suffix != text.substr(digits)) continue;
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    if (*number > static_cast<std::uint64_t>(kMost / unit.milliseconds)) break;
    return std::chrono::milliseconds(static_cast<std::int64_t>(*number) * unit.milliseconds);
  }
  return no_time(text, "is no time: write 90s, 15m, 2h or 1d");
}

Result<std::uint32_t> parse_seconds(std::string_view text) {
  Result<std::chrono::milliseconds> time = parse_time(text);
  if (!time) return time.error();
  if (text.ends_with("ms")) {
    return no_time(text, "is too fine: the protocol counts whole seconds here");
  }
  const std::int64_t seconds = time.value().count() / 1'000;
  if (seconds > std::numeric_limits<std::uint32_t>::max()) {
    return no_time(text, "is too long: at most 4294967295 seconds");
  }
  return static_cast<std::uint32_t>(seconds);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string ranges(std::span<const std::uint64_t> numbers) {
  std::string text;
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    const std::uint64_t first = numbers[at];
    while (at + 1 < numbers.size() && numbers[at + 1] == numbers[at] + 1) ++at;
    text += text.empty() ? "" : ", ";
    text +=
        first == numbers[at] ? std::to_string(first) : fmt::format("{} to {}", first, numbers[at]);
  }
  return text;
}

std::string short_number(double number) {
  if (number < 999.5) return fmt::format("{:.0f}", number);
  constexpr std::string_view kSteps = "kMGTPE";
  std::size_t step = 0;
  for (number /= 1'000; number >= 999.5 && step + 1 < kSteps.size(); ++step) number /= 1'000;
  return fmt::format("{:.{}f}{}", number, number < 99.95 ? 1 : 0, kSteps[step]);
}

std::string short_time(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3'600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86'400) return fmt::format("{}h", seconds / 3'600);
  return fmt::format("{}d", seconds / 86'400);
}

}  // namespace xylem::tool
