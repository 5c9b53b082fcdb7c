// Three ways to write bytes, and the check that decides between two of them. Each byte is looked at
// once.
#include "storage/dump_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "xylem/steers_terminal.h"

namespace xylem {
namespace {

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// The escape that C and JSON share, or nothing.
std::string_view short_escape(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return {};
  }
}

// Bytes of the sequence that begins with `first`; 0: none begins so.
std::size_t sequence_bytes(std::uint32_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// The second byte of some sequences has a smaller range: no overlong forms, no surrogates, nothing
// beyond U+10FFFF.
bool is_second(std::uint32_t first, std::uint32_t second) {
  if (first == 0xe0) return second >= 0xa0;
  if (first == 0xed) return second < 0xa0;
  if (first == 0xf0) return second >= 0x90;
  if (first == 0xf4) return second < 0x90;
  return true;
}

// Of one character, which is well-formed.
std::uint32_t code_of(std::string_view character) {
  if (character.size() == 1) return byte_at(character, 0);
  std::uint32_t code = byte_at(character, 0) & (0xffU >> (character.size() + 1));
  for (std::size_t i = 1; i < character.size(); ++i) {
    code = code << 6 | (byte_at(character, i) & 0x3f);
  }
  return code;
}

}  // namespace

std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) {
    if (const std::string_view escape = short_escape(c); !escape.empty()) {
      text += escape;
    } else if (c >= ' ' && c <= '~') {
      text += c;
    } else {
      fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text + '"';
}

bool is_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::uint32_t first = byte_at(bytes, at);
    const std::size_t size = sequence_bytes(first);
    if (size == 0 || at + size > bytes.size()) return false;
    for (std::size_t i = 1; i < size; ++i) {
      if ((byte_at(bytes, at + i) & 0xc0) != 0x80) return false;
    }
    if (size > 1 && !is_second(first, byte_at(bytes, at + 1))) return false;
    at += size;
  }
  return true;
}

std::string json_string(std::string_view utf8) {
  std::string text = "\"";
  for (std::size_t at = 0; at < utf8.size();) {
    const std::size_t size = sequence_bytes(byte_at(utf8, at));
    const std::string_view character = utf8.substr(at, std::max<std::size_t>(size, 1));
    at += character.size();
    if (const std::string_view escape = short_escape(character[0]); !escape.empty()) {
      text += escape;
    } else if (const std::uint32_t code = code_of(character); steers_terminal(code)) {
      fmt::format_to(std::back_inserter(text), "\\u{:04x}", code);
    } else {
      text += character;
    }
  }
  return text + '"';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < three.size() ? byte_at(three, i) : 0);
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= three.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

}  // namespace xylem
