// The bytes of a binlog record against a record that beanstalkd 1.13 wrote: put pri 7, delay 0, ttr
// 60, body "hello" in tube "abc".
#include "storage/binlog_format.h"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string_view>

namespace xylem::binlog {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kFields =
    "\x01\0\0\0\0\0\0\0"            // id
    "\x07\0\0\0\0\0\0\0"            // pri, padding
    "\0\0\0\0\0\0\0\0"              // delay
    "\0\x58\x47\xf8\x0d\0\0\0"      // ttr: 60 s
    "\x07\0\0\0\0\0\0\0"            // body size with CRLF, padding
    "\0\0\x64\xa7\xb3\xb6\xe0\x0d"  // created: 1,000,000,000 s
    "\0\0\0\0\0\0\0\0"              // deadline
    "\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\x05\0\0\0"
    "\x01\0\0\0"sv;  // state, padding

TEST_CASE("the fields of a job stand where C puts them") {
  REQUIRE(kFields.size() == 80);
  const Fields fields = fields_from(kFields);
  CHECK(fields.id == 1);
  CHECK(fields.pri == 7);
  CHECK(fields.delay == 0);
  CHECK(fields.ttr == 60'000'000'000);
  CHECK(fields.body_size == 7);
  CHECK(fields.created_at == 1'000'000'000'000'000'000);
  CHECK(fields.deadline_at == 0);
  CHECK(fields.reserves == 1);
  CHECK(fields.timeouts == 2);
  CHECK(fields.releases == 3);
  CHECK(fields.buries == 4);
  CHECK(fields.kicks == 5);
  CHECK(fields.state == 1);
}

TEST_CASE("versions 7 and 5 are known, no other") {
  REQUIRE(layout_of(7));
  CHECK(layout_of(7)->job_bytes == 80);
  REQUIRE(layout_of(5));
  CHECK(layout_of(5)->job_bytes == 77);
  for (const int version : {-1, 0, 1, 4, 6, 8, 0x07000000}) CHECK_FALSE(layout_of(version));
  CHECK(version_from("\x07\0\0\0"sv) == 7);
}

TEST_CASE("a length has 4 bytes or 8, and a negative one is huge") {
  CHECK(length_from("\x03\0\0\0"sv, *layout_of(7)) == 3);
  CHECK(length_from("\xff\xff\xff\xff"sv, *layout_of(7)) == 0xffffffffU);
  CHECK(length_from("\x03\0\0\0\0\0\0\x01"sv, *layout_of(5)) == 0x0100000000000003U);
}

TEST_CASE("times are nanoseconds in version 7 and microseconds in version 5") {
  CHECK(seconds_from(60'000'000'000, *layout_of(7)) == 60);
  CHECK(seconds_from(60'000'000, *layout_of(5)) == 60);
  CHECK(time_from(1'000'000'000'000'000'000, *layout_of(7)) == Time(Duration(10'000'000'000'000)));
  CHECK(time_from(1'000'000'000'000'000, *layout_of(5)) == Time(Duration(10'000'000'000'000)));
  CHECK(time_from(199'999, *layout_of(7)) == Time(Duration(1)));
}

TEST_CASE("a span stays within what the protocol can say") {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(seconds_from(-1, *layout_of(7)) == 0);
  CHECK(seconds_from(kMost, *layout_of(7)) == 4'294'967'295U);
  CHECK(seconds_from(4'294'967'295'000'000'000, *layout_of(7)) == 4'294'967'295U);
}

}  // namespace
}  // namespace xylem::binlog
