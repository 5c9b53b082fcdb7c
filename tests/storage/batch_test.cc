// A batch's bytes hold its records one behind the other, each sealed for its own place. They are
// read back here with the codec alone.
#include "xylem/storage/batch.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/samples.h"
#include "xylem/core/command.h"
#include "xylem/storage/record_codec.h"

namespace xylem::test {
namespace {

constexpr std::uint64_t kSalt = 0xabcdef;
constexpr std::uint64_t kAt = 4'096;

std::string bytes_of(const Batch& batch) {
  std::string bytes;
  for (const std::string_view part : batch.parts()) bytes += part;
  return bytes;
}

std::vector<std::string> texts_in(std::string_view bytes) {
  std::vector<std::string> texts;
  std::size_t at = kBatchHeaderBytes;
  while (at < bytes.size()) {
    const std::uint64_t seed = kSalt + kAt + at;
    const auto head = decode_head(bytes.substr(at), seed);
    REQUIRE(head);
    const std::string_view rest = bytes.substr(at, head->record_bytes()).substr(kRecordHeadBytes);
    const auto record = decode_rest(*head, rest, {}, seed);
    REQUIRE(record);
    texts.push_back(text_of(*record));
    at += head->record_bytes();
  }
  return texts;
}

void check_round_trip(const std::vector<Record>& records) {
  Batch batch;
  std::vector<std::string> expected;
  for (const Record& record : records) {
    batch.append(record);
    expected.push_back(text_of(record));
  }
  batch.seal({.index = 5, .cluster_time = Time(Duration(6)), .wall_time = Time(Duration(7))}, kSalt,
             kAt);
  const std::string bytes = bytes_of(batch);
  CHECK(bytes.size() == batch.bytes());
  const auto header = decode_batch_header(bytes, kSalt + kAt);
  REQUIRE(header);
  CHECK(header->index == 5);
  CHECK(header->record_count == records.size());
  CHECK(header->record_bytes == bytes.size() - kBatchHeaderBytes);
  CHECK(texts_in(bytes) == expected);
}

TEST_CASE("records come back in their order") { check_round_trip(sample_records()); }

TEST_CASE("long bodies stand where they belong") {
  const BufferRef one = long_body(5'000);
  const BufferRef two = long_body(70'000);
  check_round_trip({long_put(1, one)});
  check_round_trip({long_put(1, one), long_put(2, two)});
  check_round_trip({DeleteRecord{9}, long_put(1, one), KickRecord{1}, long_put(2, two),
                    DeleteRecord{1}, DeleteRecord{2}});
}

TEST_CASE("a batch keeps long bodies alive, not copies of them") {
  Batch batch;
  std::string expected;
  {
    const BufferRef body = long_body(5'000);
    batch.append(long_put(1, body));
    expected = text_of(long_put(1, body));
  }
  CHECK(batch.bytes() == kBatchHeaderBytes + put_bytes(4, 5'000, false, false));
  batch.seal({.index = 1}, kSalt, kAt);
  CHECK(texts_in(bytes_of(batch)) == std::vector{expected});
}

TEST_CASE("replies wait for records, not for notes") {
  Batch batch;
  CHECK(batch.empty());
  batch.append(ReserveNote{1, 2});
  CHECK_FALSE(batch.empty());
  CHECK_FALSE(batch.has_records());
  batch.append(DeleteRecord{1});
  CHECK(batch.has_records());
}

TEST_CASE("a batch tells which jobs and pauses stand in it") {
  Batch batch;
  for (const Record& record : sample_records()) batch.append(record);
  CHECK(batch.put_ids() == std::vector<JobId>{1, 2, 3, 4, 5});
  CHECK(batch.paused_tubes() == std::vector<std::string>{"emails.$_()/;+-"});
}

}  // namespace
}  // namespace xylem::test
