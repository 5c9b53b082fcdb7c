// Names and headers of segments, headers of batches: there and back, and nothing else passes for
// one.
#include "xylem/storage/segment.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace xylem::test {
namespace {

const SegmentHeader kHeader{.number = 7,
                            .first_index = 8,
                            .last_id = 9,
                            .last_bury_order = 10,
                            .cluster_time = Time(Duration(17'000'000'000'000)),
                            .wall_time = Time(Duration(-11)),
                            .salt = 0xfedcba9876543210};
const BatchHeader kBatch{.index = 3,
                         .term = 4,
                         .cluster_time = Time(Duration(17'000'000'000'000)),
                         .wall_time = Time(Duration(-5)),
                         .record_count = 6,
                         .record_bytes = 700};

using BatchBytes = std::array<char, kBatchHeaderBytes>;

std::string_view view(const BatchBytes& bytes) { return {bytes.data(), bytes.size()}; }

std::string flipped(std::string bytes, std::size_t at) {
  bytes[at] = static_cast<char>(~bytes[at]);
  return bytes;
}

TEST_CASE("segments are named by number, and nothing else is one") {
  CHECK(segment_name(7) == "log.0000000007");
  CHECK(segment_name(4'294'967'295) == "log.4294967295");
  CHECK(segment_number("log.0000000007") == 7);
  CHECK(segment_number("log.4294967295") == 4'294'967'295);
  for (const char* name :
       {"log.0000000000", "log.4294967296", "log.7", "log.00000000007", "log.", "binlog.0000000007",
        "log.000000000a", "log.-000000007", "log.0000000007.damaged", "lock", ""}) {
    CAPTURE(name);
    CHECK_FALSE(segment_number(name));
  }
  CHECK(damaged_name(7) == "log.0000000007.damaged");
}

TEST_CASE("a segment header comes back, from either copy") {
  const std::string good = encode_segment_header(kHeader);
  REQUIRE(good.size() == kSegmentHeaderBytes);
  const auto decoded = decode_segment_header(good);
  REQUIRE(decoded);
  CHECK(decoded->header == kHeader);
  CHECK(decoded->format == kLogFormat);
  CHECK_FALSE(decoded->damaged);

  constexpr std::size_t kUsed = 72;
  for (std::size_t at = 0; at < kUsed; ++at) {
    for (const std::size_t copy : {std::size_t{0}, std::size_t{512}}) {
      const auto half = decode_segment_header(flipped(good, at + copy));
      REQUIRE(half);
      CHECK(half->header == kHeader);
      CHECK(half->damaged);
    }
    CHECK_FALSE(decode_segment_header(flipped(flipped(good, at), at + 512)));
  }
}

TEST_CASE("a segment header cut short has one copy or none") {
  const std::string good = encode_segment_header(kHeader);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto decoded = decode_segment_header(std::string_view(good).substr(0, size));
    CHECK(decoded.has_value() == (size >= 72));
    CHECK((!decoded || decoded->damaged == (size < 512 + 72)));
  }
  CHECK_FALSE(decode_segment_header(std::string(kSegmentHeaderBytes, '\0')));
}

TEST_CASE("a batch header comes back, at its own place and with its own salt only") {
  BatchBytes bytes;
  encode_batch_header(kBatch, 77, bytes);
  const auto decoded = decode_batch_header(view(bytes), 77);
  REQUIRE(decoded);
  CHECK(*decoded == kBatch);
  CHECK_FALSE(decode_batch_header(view(bytes), 78));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    CHECK_FALSE(decode_batch_header(flipped(std::string(view(bytes)), at), 77));
    CHECK_FALSE(decode_batch_header(view(bytes).substr(0, at), 77));
  }
  CHECK_FALSE(decode_batch_header(std::string(kBatchHeaderBytes, '\0'), 77));
}

}  // namespace
}  // namespace xylem::test
