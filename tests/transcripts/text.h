// The text of one transcript line: what is sent, or what an answer must look like.
//
// Escapes: \r \n \t \0 \s (a space) \\ \xNN. Braces: {x*N} is x, N times; in what is expected also
// {#}, one or more digits, and {*}, anything. A text is a row of parts, so that a literal can never
// be taken for a pattern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xylem::transcript {

struct Part {
  enum class Kind { kLiteral, kDigits, kAnything };
  Kind kind = Kind::kLiteral;
  std::string literal;
};

using Text = std::vector<Part>;

// Reads the text of a line. On a mistake the answer is empty and `error` says what is wrong.
[[nodiscard]] std::optional<Text> parse_text(std::string_view source, std::string& error);

// The bytes of a text without patterns; empty if it has one.
[[nodiscard]] std::optional<std::string> bytes_of(const Text& text);

// Does the whole of `line` look like `text`?
[[nodiscard]] bool matches(const Text& text, std::string_view line);

// The other way: bytes as a transcript would write them, long runs of one byte as {x*N}.
[[nodiscard]] std::string as_source(std::string_view bytes);

}  // namespace xylem::transcript
