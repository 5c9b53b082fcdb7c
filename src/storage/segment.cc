// Headers as bytes. Both kinds end in their check, over all that stands before it; a segment
// header's has seed 0, since the salt is inside.
#include "xylem/storage/segment.h"

#include <fmt/format.h>

#include <charconv>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "xylem/check.h"

namespace xylem {
namespace {

constexpr std::string_view kMagic = "xylemlog";
constexpr std::string_view kNamePrefix = "log.";
constexpr std::size_t kNameDigits = 10;
constexpr std::size_t kCopyBytes = 512;
constexpr std::size_t kCheckedHeaderBytes = 64;
constexpr std::size_t kCheckedBatchBytes = kBatchHeaderBytes - 8;

std::uint64_t ticks_of(Time time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

Time time_of(std::uint64_t ticks) { return Time(Duration(static_cast<Clock::rep>(ticks))); }

bool verifies(std::string_view checked, std::string_view check, std::uint64_t seed) {
  return load_number<8>(check.data()) == check64(checked, seed);
}

std::string encode_copy(const SegmentHeader& header) {
  std::string copy(kMagic);
  append_number<4>(copy, kLogFormat);
  append_number<4>(copy, header.number);
  append_number<8>(copy, header.first_index);
  append_number<8>(copy, header.last_id);
  append_number<8>(copy, header.last_bury_order);
  append_number<8>(copy, ticks_of(header.cluster_time));
  append_number<8>(copy, ticks_of(header.wall_time));
  append_number<8>(copy, header.salt);
  append_number<8>(copy, check64(copy, 0));
  copy.resize(kCopyBytes);
  return copy;
}

std::optional<DecodedSegmentHeader> decode_copy(std::string_view copy) {
  if (copy.size() < kCheckedHeaderBytes + 8 || !copy.starts_with(kMagic)) return std::nullopt;
  const std::string_view checked = copy.substr(0, kCheckedHeaderBytes);
  if (!verifies(checked, copy.substr(kCheckedHeaderBytes, 8), 0)) return std::nullopt;
  ByteReader reader(checked.substr(kMagic.size()));
  DecodedSegmentHeader decoded;
  decoded.format = reader.u32();
  if (decoded.format != kLogFormat) return decoded;
  decoded.header = {.number = reader.u32(),
                    .first_index = reader.number<8>(),
                    .last_id = reader.number<8>(),
                    .last_bury_order = reader.number<8>(),
                    .cluster_time = time_of(reader.number<8>()),
                    .wall_time = time_of(reader.number<8>()),
                    .salt = reader.number<8>()};
  return decoded;
}

}  // namespace

std::string segment_name(SegmentNumber number) { return fmt::format("log.{:010}", number); }

std::string damaged_name(SegmentNumber number) { return segment_name(number) + ".damaged"; }

std::optional<SegmentNumber> segment_number(std::string_view name) {
  if (!name.starts_with(kNamePrefix) || name.size() != kNamePrefix.size() + kNameDigits) {
    return std::nullopt;
  }
  SegmentNumber number = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kNamePrefix.size(), end, number);
  if (error != std::errc() || stop != end || number == 0) return std::nullopt;
  return number;
}

std::string encode_segment_header(const SegmentHeader& header) {
  CHECK(header.number >= 1 && header.first_index >= 1);
  const std::string copy = encode_copy(header);
  return copy + copy;
}

std::optional<DecodedSegmentHeader> decode_segment_header(std::string_view bytes) {
  const std::size_t middle = std::min(bytes.size(), kCopyBytes);
  const auto first = decode_copy(bytes.substr(0, middle));
  const auto second = decode_copy(bytes.substr(middle));
  if (!first && !second) return std::nullopt;
  DecodedSegmentHeader decoded = first ? *first : *second;
  decoded.damaged = !first || !second;
  return decoded;
}

void encode_batch_header(const BatchHeader& header, std::uint64_t seed,
                         std::span<char, kBatchHeaderBytes> into) {
  CHECK(header.index >= 1);
  store_number<8>(into.data(), header.index);
  store_number<8>(into.data() + 8, header.term);
  store_number<8>(into.data() + 16, ticks_of(header.cluster_time));
  store_number<8>(into.data() + 24, ticks_of(header.wall_time));
  store_number<4>(into.data() + 32, header.record_count);
  store_number<4>(into.data() + 36, header.record_bytes);
  store_number<8>(into.data() + 40, check64({into.data(), kCheckedBatchBytes}, seed));
}

std::optional<BatchHeader> decode_batch_header(std::string_view bytes, std::uint64_t seed) {
  if (bytes.size() < kBatchHeaderBytes) return std::nullopt;
  ByteReader reader(bytes);
  const BatchHeader header{.index = reader.number<8>(),
                           .term = reader.number<8>(),
                           .cluster_time = time_of(reader.number<8>()),
                           .wall_time = time_of(reader.number<8>()),
                           .record_count = reader.u32(),
                           .record_bytes = reader.u32()};
  if (header.index == 0 || header.record_count == 0) return std::nullopt;
  const std::string_view checked = bytes.substr(0, kCheckedBatchBytes);
  if (!verifies(checked, bytes.substr(kCheckedBatchBytes, 8), seed)) return std::nullopt;
  return header;
}

}  // namespace xylem
