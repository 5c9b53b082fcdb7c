// SegmentReader: goes through one segment from its header to its end and hands out what verifies.
// It reads in large windows; only a record larger than a window makes it grow.
//
// After something that does not verify it looks, byte by byte, for the next batch header or record
// that does, and says in its next item how many bytes lay between. Whether they are damage or a
// torn tail only the whole log can say (recovery.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "xylem/core/record.h"
#include "xylem/storage/file.h"
#include "xylem/storage/record_codec.h"
#include "xylem/storage/segment.h"

namespace xylem {

class SegmentReader {
 public:
  // Heads: rests are skipped unread and not verified; records are not decoded.
  enum class Depth { kHeads, kRecords };

  struct Batch {
    BatchHeader header;
    std::uint64_t at = 0;  // its offset
  };
  struct Head {
    RecordHead head;
    std::uint64_t at = 0;
  };
  struct Entry {
    RecordHead head;
    Record record;  // views live until the next call
    std::uint64_t at = 0;
  };
  // Bytes that do not verify.
  struct Gap {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };
  // Only zeros, or nothing, follow.
  struct End {
    std::uint64_t at = 0;  // where they begin
  };
  using Item = std::variant<Batch, Head, Entry, Gap, End>;

  // The file must outlive the reader.
  SegmentReader(File& file, Depth depth);

  // The header; must be asked for first. None: neither copy verifies (then nothing else can be
  // read). Its second member tells a segment that was never written to: all of it is zeros.
  struct Start {
    std::optional<DecodedSegmentHeader> header;
    bool blank = false;
  };
  Result<Start> start();
  // The next item; after End there is no other.
  Result<Item> next();

 private:
  File& file_;
  Depth depth_;
};

}  // namespace xylem
