// Each record there and back, to the byte; and nothing that was changed, cut short or moved to
// another place ever verifies.
#include "xylem/storage/record_codec.h"

#include <doctest/doctest.h>

#include <string>

#include "support/samples.h"
#include "xylem/core/command.h"

namespace xylem::test {
namespace {

constexpr std::uint64_t kSeed = 0x0123456789abcdef;

std::string sealed(const Record& record, std::uint64_t seed = kSeed) {
  std::string text;
  encode_record(record, text);
  seal_record(text.data(), {}, seed);
  return text;
}

// What the bytes say, or nothing.
std::string decoded(std::string_view bytes, std::uint64_t seed = kSeed) {
  const auto head = decode_head(bytes, seed);
  if (!head || bytes.size() != head->record_bytes()) return {};
  const auto record = decode_rest(*head, bytes.substr(kRecordHeadBytes), {}, seed);
  return record ? text_of(*record) : std::string();
}

TEST_CASE("records come back as they were") {
  for (const Record& record : sample_records()) {
    CAPTURE(text_of(record));
    CHECK(decoded(sealed(record)) == text_of(record));
  }
}

TEST_CASE("a head tells what a reader asks it") {
  for (const Record& record : sample_records()) {
    CAPTURE(text_of(record));
    const std::string bytes = sealed(record);
    const auto head = decode_head(bytes, kSeed);
    REQUIRE(head);
    CHECK(head->record_bytes() == bytes.size());
    CHECK(head->is_put() == std::holds_alternative<PutRecord>(record));
    CHECK(head->is_delete() == std::holds_alternative<DeleteRecord>(record));
    CHECK(head->is_note() == is_note(record));
  }
}

TEST_CASE("records are as long as the core says") {
  for (const Record& record : sample_records()) {
    CAPTURE(text_of(record));
    if (const auto* put = std::get_if<PutRecord>(&record)) {
      const bool counted = put->reserves != 0;
      const bool placed = put->state != JobState::kReady;
      CHECK(sealed(record).size() ==
            put_bytes(put->tube.size(), put->body.size(), placed, counted));
    }
    if (const auto* pause = std::get_if<PauseRecord>(&record)) {
      CHECK(sealed(record).size() == pause_bytes(pause->tube.size()));
    }
  }
  CHECK(kSmallestPutBytes == put_bytes(1, 0, false, false));
  CHECK(sealed(DeleteRecord{1}).size() == kRecordHeadBytes);
}

TEST_CASE("the layout of format 1 stands") {
  // Without its checks, which are zero until it is sealed.
  std::string text;
  encode_record(ReleaseRecord{0x0102030405060708, 0x11121314, 0x21222324, Time(Duration(0x313233))},
                text);
  using namespace std::string_view_literals;
  CHECK(text ==
        "\0\0\0\0\x0e\0\0\0\x03\x08\x07\x06\x05\x04\x03\x02\x01"
        "\0\0\0\0\x14\x13\x12\x11\x24\x23\x22\x21\x33\x32\x31\0\0\0"sv);
}

TEST_CASE("no record with a flipped byte verifies, nor at another place, nor cut short") {
  for (const Record& record : sample_records()) {
    CAPTURE(text_of(record));
    const std::string good = sealed(record);
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        CHECK(decoded(bad).empty());
      }
      CHECK(decoded(good.substr(0, at)).empty());
    }
    CHECK(decoded(good, kSeed + 1).empty());
  }
}

TEST_CASE("zeros are no record") {
  CHECK_FALSE(decode_head(std::string(64, '\0'), kSeed));
  CHECK_FALSE(decode_head({}, kSeed));
}

TEST_CASE("times before 1970 and beyond 48 bits are brought inside") {
  PutRecord put;
  put.id = 1;
  put.tube = "t";
  put.created_at = Time(Duration(-5));
  CHECK(decoded(sealed(put)).find("created 0 ") != std::string::npos);
  put.created_at = kNever;
  CHECK(decoded(sealed(put)).find("created 281474976710655 ") != std::string::npos);
}

TEST_CASE("a long body is checked where it lies") {
  const BufferRef buffer = long_body(5'000);
  const PutRecord put = long_put(9, buffer);
  std::string text;
  encode_record(put, text);
  CHECK(text.size() == put_bytes(put.tube.size(), 0, false, false));
  seal_record(text.data(), put.body, kSeed);

  const std::string whole = text + std::string(put.body);
  CHECK(decoded(whole) == text_of(put));
  const auto head = decode_head(text, kSeed);
  REQUIRE(head);
  const std::string_view rest = std::string_view(text).substr(kRecordHeadBytes);
  const auto record = decode_rest(*head, rest, put.body, kSeed);
  REQUIRE(record);
  CHECK(text_of(*record) == text_of(put));
  std::string other(put.body);
  other[4'999] = static_cast<char>(~other[4'999]);
  CHECK_FALSE(decode_rest(*head, rest, other, kSeed));
}

TEST_CASE("where a body begins is known before it is there") {
  for (const Record& record : sample_records()) {
    const auto* put = std::get_if<PutRecord>(&record);
    if (put == nullptr) continue;
    CAPTURE(text_of(record));
    const std::string rest = sealed(record).substr(kRecordHeadBytes);
    CHECK(body_offset(rest) == rest.size() - put->body.size());
  }
  CHECK_FALSE(body_offset(std::string(kMostBeforeBody, '\xff')));
  CHECK_FALSE(body_offset({}));
}

}  // namespace
}  // namespace xylem::test
