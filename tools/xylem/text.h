// Text for people and scripts: times, numbers, and bytes that somebody else chose. Bodies, tube
// names and whatever else a server sends may hold terminal escape sequences; nothing of it reaches
// a terminal but through escaped().
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "xylem/result.h"

namespace xylem::tool {

// Control bytes, what is not UTF-8, and characters that turn the writing direction become \n, \x1b
// and so on; the rest stays.
std::string escaped(std::string_view text);
// The same for a text of JSON, whose strings have \u009b for what would steer a terminal.
std::string escaped_json(std::string json);
// Its first characters, as they are; a byte that is not UTF-8 counts as one.
std::string_view front(std::string_view text, std::size_t characters);
// escaped(), cut with an ellipsis where it would take more than `width` columns of a terminal.
std::string excerpt(std::string_view text, std::size_t width);
// Columns of a terminal that a text without control characters takes: two for a wide character of
// East Asia or an emoji, none for a combining one. Where terminals differ, the larger number.
std::size_t width_of(std::string_view text);
bool is_utf8(std::string_view text);

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

// "90", "90s", "15m", "2h", "1d", "500ms".
Result<std::chrono::milliseconds> parse_time(std::string_view text);
// The same for what the protocol counts in whole seconds: no ms, and at most 4294967295.
Result<std::uint32_t> parse_seconds(std::string_view text);
// A century, which no clock overflows by: longer times are to be cut to it before they are added.
inline constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 36'500);

std::optional<std::uint64_t> parse_number(std::string_view text);
// "1 job", "2 jobs".
std::string counted(std::uint64_t count, std::string_view noun);
// "1 to 3, 7": numbers in rising order.
std::string ranges(std::span<const std::uint64_t> numbers);
// 999, 12.3k, 4.5M: at most five characters.
std::string short_number(double number);
// 59s, 15m, 23h, 99d: a time for a table.
std::string short_time(std::uint64_t seconds);

}  // namespace xylem::tool
