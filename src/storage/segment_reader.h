// SegmentReader: goes through one segment from its header to its end and hands out what verifies.
// It reads in large windows; a long body is read straight into its Buffer, and only if the record
// is asked for, so the memory it needs is a window and one body.
//
// After something that does not verify it looks, byte by byte, for the next batch header or record
// that does, and says in its next item how many bytes lay between. Inside a batch whose header
// verifies only records are looked for, up to its end. Whether such bytes are damage or a torn tail
// only the whole log can say (recovery.h).
//
// Found that way, a record must verify as a whole. One that stands where a record is expected is
// told once its head verifies: whoever does not want it never reads its rest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "storage/window.h"
#include "xylem/core/buffer.h"
#include "xylem/core/record.h"
#include "xylem/storage/file.h"
#include "xylem/storage/record_codec.h"
#include "xylem/storage/segment.h"

namespace xylem {

class SegmentReader {
 public:
  struct Batch {
    BatchHeader header;
    std::uint64_t at = 0;

    [[nodiscard]] std::uint64_t end() const { return at + kBatchHeaderBytes + header.record_bytes; }
  };
  struct Head {
    RecordHead head;
    std::uint64_t at = 0;
  };
  // Bytes that do not verify. Zeros count if a batch should have filled them; there are none if the
  // file ends inside a batch.
  struct Gap {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };
  // Only zeros, or nothing, follow.
  struct End {
    std::uint64_t at = 0;
  };
  using Item = std::variant<Batch, Head, Gap, End>;

  // The file must outlive the reader, and so must memory that is lent to it.
  explicit SegmentReader(File& file) : window_(file) {}
  SegmentReader(File& file, Window::Memory& memory) : window_(file, memory) {}

  // The header; must be asked for first. None: neither copy verifies (then nothing else can be
  // read).
  struct Start {
    std::optional<DecodedSegmentHeader> header;
    bool blank = false;  // never written to: all of it is zeros
    std::uint64_t file_bytes = 0;
  };
  Result<Start> start();
  // Goes on at the place of an earlier item, or where a batch may begin.
  void seek(std::uint64_t at);
  // The next item; End again and again at the end.
  Result<Item> next();
  // The record whose head next() has just returned; views live until the next call of next(). None:
  // its rest does not verify or makes no sense.
  Result<std::optional<Record>> record();
  // Where the last byte ends that is not zero, looking from `at` on; `at` if there is none.
  Result<std::uint64_t> end_of_bytes(std::uint64_t at);

 private:
  [[nodiscard]] bool in_batch() const { return at_ < batch_end_; }
  [[nodiscard]] std::uint64_t seed(std::uint64_t at) const { return salt_ + at; }
  [[nodiscard]] std::optional<BatchHeader> batch_header(std::string_view bytes) const;
  Item batch(const BatchHeader& header);
  Item head(const RecordHead& head);
  Item gap(std::uint64_t from, std::uint64_t to);
  Result<Item> search();
  Result<std::optional<RecordHead>> whole_record(std::string_view bytes, std::uint64_t limit);
  Result<std::optional<Record>> load(const Head& which);
  Result<std::optional<Record>> load_short(const Head& which);
  Result<std::optional<Record>> load_large(const Head& which, std::size_t rest_bytes);
  Result<std::optional<Record>> load_put(const Head& which);

  Window window_;
  std::uint64_t salt_ = 0;
  BatchIndex first_index_ = 1;
  BatchIndex least_index_ = 1;   // of the next batch
  std::uint64_t at_ = 0;         // of the next item
  std::uint64_t batch_end_ = 0;  // of the batch that at_ is in; not after at_ if in none
  Head last_head_;
  BufferRef long_body_;     // of the record that was last loaded
  std::string large_rest_;  // of the record that was last loaded
};

}  // namespace xylem
