// Records as bytes.
//
//     head, 17 bytes                      rest, only if length > 0
//     | check 4 | length 4 | type 1 | id 8 | check 4 | length bytes ...
//
// `check` is the low half of XXH3 with the seed of the record (segment.h: salt plus offset of the
// head), over what stands behind it up to the next check: the head's over length, type and id, the
// rest's over its bytes. A record is encoded when it is made, with its checks left zero, and sealed
// when its place in the log is known.
//
//     type  record            rest
//      1    put               flags 1, pri 4, delay 4, ttr 4, created 6,
//                             [deadline or bury order 6,] [counters 5 x 4,] name length 1, name,
//                             body
//      2    delete            -
//      3    release           pri 4, delay 4, deadline 6
//      4    bury              pri 4, bury order 6
//      5    kick              -
//      6    reserve-job       reserves 4
//      7    pause (id 0)      delay 4, until 6, name
//      8    move              bury order 6, name
//      9    priority          pri 4
//      10   flush (id 0)      state 1 (0 all, 1 ready, 2 delayed, 3 buried), time 6, name length 1,
//                             name, ids of reserved jobs, 8 each
//      16   reserve note      reserves 4
//      17   timeout note      timeouts 4
//      18   id note           -
//
// Times are ticks of core/time.h since the epoch, unsigned (48 bits last until the year 2861).
// Types below 16 are records, those from 16 on are notes. flags: bits 0 and 1 the state (0 ready, 1
// delayed, 2 buried), bit 2 whether there are counters.
//
// If you change this, also: put_bytes() and pause_bytes() in core/record.h, and what segment.h
// says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "xylem/core/record.h"

namespace xylem {

inline constexpr std::size_t kRecordHeadBytes = 17;
inline constexpr std::size_t kRestCheckBytes = 4;
// With an empty body and a name of one byte.
inline constexpr std::size_t kSmallestPutBytes = 42;

// The head as it stands in the log; verified.
struct RecordHead {
  std::uint32_t rest_bytes = 0;  // without the rest's check
  std::uint8_t type = 0;
  JobId id = 0;

  // Head and rest, checks included.
  [[nodiscard]] std::size_t record_bytes() const {
    return kRecordHeadBytes + (rest_bytes == 0 ? 0 : kRestCheckBytes + rest_bytes);
  }
  [[nodiscard]] bool is_put() const { return type == 1; }
  [[nodiscard]] bool is_delete() const { return type == 2; }
  [[nodiscard]] bool is_id_note() const { return type == 18; }
  [[nodiscard]] bool is_note() const { return type >= 16; }
};

// Appends the record to `text`, checks zero. A body that stands in a Buffer (PutRecord::buffer) is
// not copied: the caller puts its bytes, without CRLF, behind `text`.
void encode_record(const Record& record, std::string& text);
// Writes the checks of the record that `start` begins with; `start` holds all of it, but for
// `long_body`, which follows.
void seal_record(char* start, std::string_view long_body, std::uint64_t seed);

// None: the bytes are too few, the check fails, or the type is unknown.
std::optional<RecordHead> decode_head(std::string_view bytes, std::uint64_t seed);
// `rest` and `long_body`, one behind the other: the bytes behind the head, with the rest's check in
// front; exactly those that the head names. The second is empty, or the whole body of a put. None:
// the check fails or the fields make no sense. Views of the record are into the two.
std::optional<Record> decode_rest(const RecordHead& head, std::string_view rest,
                                  std::string_view long_body, std::uint64_t seed);

// What is in front of a put's body, head excluded, is at most this long.
inline constexpr std::size_t kMostBeforeBody = 250;
// Where the body begins in the rest of a put, counted from the rest's check; `rest` holds at least
// kMostBeforeBody bytes of it, or all. Nothing is verified. None: the fields make no sense.
std::optional<std::size_t> body_offset(std::string_view rest);

}  // namespace xylem
