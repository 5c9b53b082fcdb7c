// A segment: one file of the log. docs/disk-format.md draws it whole.
//
//     0       512       1024
//     | header | header | batch | batch | batch | zeros ...            log.0000000007
//
// The header stands there twice: it holds the salt, without which nothing else verifies, and one
// flipped byte must not cost more than the record that it is in. A segment that was allocated and
// never written to is all zeros.
//
//     batch:  | batch header (48) | record | record | ...
//
//     segment header:  magic 8 "xylemlog" | format 4 | number 4 | first index 8 | last id 8 |
//                      last bury order 8 | cluster time 8 | wall time 8 | salt 8 | check 8
//     batch header:    index 8 | term 8 | cluster time 8 | wall time 8 | record count 4 |
//                      record bytes 4 | check 8
//
// The first index cuts off what earlier segments hold at it and behind: their batches from there
// on, and bytes that do not verify, count for nothing. So a torn tail is mended by beginning a
// segment.
//
// Integers are little-endian. Checks are XXH3 with a seed; the seed of a batch header or a record
// is the segment's salt plus its offset in the file, so that neither the old bytes of a recycled
// file, nor a record that lies elsewhere, nor a body made to look like one, ever verifies.
//
// If you change this, also: docs/disk-format.md, its hex example, and the golden logs in
// tests/storage (format 1 is kept readable for ever).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "xylem/core/ids.h"
#include "xylem/core/time.h"

namespace xylem {

// Rises by one a segment; at least 1. Names the file.
using SegmentNumber = std::uint32_t;
// Rises by one a batch, for ever, beginning with 1.
using BatchIndex = std::uint64_t;

inline constexpr std::uint32_t kLogFormat = 1;
inline constexpr std::uint64_t kSegmentHeaderBytes = 1024;
inline constexpr std::size_t kBatchHeaderBytes = 48;

struct SegmentHeader {
  SegmentNumber number = 0;
  BatchIndex first_index = 0;         // of the first batch that is to stand here; at least 1
  JobId last_id = 0;                  // ids up to here count as given
  std::uint64_t last_bury_order = 0;  // so do these
  Time cluster_time{};                // when it was begun, as the engine counts
  Time wall_time{};                   // and by the wall clock
  std::uint64_t salt = 0;

  bool operator==(const SegmentHeader&) const = default;
};

struct BatchHeader {
  BatchIndex index = 0;
  std::uint64_t term = 0;  // 0: a server alone
  Time cluster_time{};
  Time wall_time{};
  std::uint32_t record_count = 0;
  std::uint32_t record_bytes = 0;  // of all its records together

  bool operator==(const BatchHeader&) const = default;
};

// "log.0000000007", and back; nothing else is a segment.
std::string segment_name(SegmentNumber number);
std::optional<SegmentNumber> segment_number(std::string_view name);
// A segment that was set aside: "log.0000000007.damaged".
std::string damaged_name(SegmentNumber number);

// Both copies, kSegmentHeaderBytes long.
std::string encode_segment_header(const SegmentHeader& header);

struct DecodedSegmentHeader {
  SegmentHeader header;
  std::uint32_t format = 0;  // if it is not kLogFormat, `header` is empty
  bool damaged = false;      // one of the copies does not verify
};
// `bytes`: the first kSegmentHeaderBytes of the file, or what there is. None: neither copy
// verifies. Magic, format and check stand where they do in every format.
std::optional<DecodedSegmentHeader> decode_segment_header(std::string_view bytes);

void encode_batch_header(const BatchHeader& header, std::uint64_t seed,
                         std::span<char, kBatchHeaderBytes> into);
std::optional<BatchHeader> decode_batch_header(std::string_view bytes, std::uint64_t seed);

}  // namespace xylem
