// Numbers as little-endian bytes, of any width up to eight: what the log's formats are written
// with. Reading past the end is our own mistake, so callers check lengths first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "xylem/check.h"

namespace xylem {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand");

template <std::size_t kBytes>
void store_number(char* into, std::uint64_t value) {
  static_assert(kBytes <= sizeof value);
  std::memcpy(into, &value, kBytes);
}

template <std::size_t kBytes>
void append_number(std::string& text, std::uint64_t value) {
  char bytes[kBytes];
  store_number<kBytes>(bytes, value);
  text.append(bytes, kBytes);
}

template <std::size_t kBytes>
std::uint64_t load_number(const char* bytes) {
  static_assert(kBytes <= sizeof(std::uint64_t));
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, kBytes);
  return value;
}

// Takes numbers and text off the front of `bytes`.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  template <std::size_t kBytes>
  std::uint64_t number() {
    return load_number<kBytes>(text(kBytes).data());
  }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number<4>()); }
  std::string_view text(std::size_t size) {
    CHECK(size <= bytes_.size());
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view bytes_;
};

}  // namespace xylem
