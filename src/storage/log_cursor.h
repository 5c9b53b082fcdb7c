// The log as one sequence: its segments by number, and a cursor that goes through all of them and
// leaves out what a later segment has cut off (segment.h: the first index).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "storage/segment_reader.h"
#include "xylem/result.h"
#include "xylem/storage/file.h"
#include "xylem/storage/segment.h"

namespace xylem {

// A file of the log, before its batches are read.
struct LogSegment {
  SegmentNumber number = 0;
  std::uint64_t file_bytes = 0;
  bool blank = false;
  std::optional<SegmentHeader> header;  // none: blank, or neither copy verifies
  bool half_header = false;             // one copy does not verify
  // The smallest first index of the segments behind: batches from it on are cut off.
  BatchIndex cut = std::numeric_limits<BatchIndex>::max();

  // There may be batches in it that count.
  [[nodiscard]] bool readable() const { return header && header->first_index < cut; }
  // Its header shows that the log had come so far, though all of it may be cut off.
  [[nodiscard]] bool tells_index() const { return header && header->first_index <= cut; }
};

// All files with a segment's name, by number. Errors: the disk's, and a log that is not ours to
// read: another format, or a file under a number that is not its own.
Result<std::vector<LogSegment>> list_segments(Directory& directory);

// A place in the log; the segment is an index into the list.
struct Place {
  std::size_t segment = 0;
  std::uint64_t at = 0;

  auto operator<=>(const Place&) const = default;
};

class LogCursor {
 public:
  // Both must outlive it.
  LogCursor(Directory& directory, const std::vector<LogSegment>& segments);

  // Goes on at a place where a batch may begin.
  void seek(const Place& place);
  // False: the log is over. Each readable segment ends with an End item, which is never inside what
  // is cut off.
  Result<bool> next();
  [[nodiscard]] Place place() const;
  [[nodiscard]] const SegmentReader::Item& item() const { return item_; }
  // SegmentReader::record()
  Result<std::optional<Record>> record() { return reader_->record(); }

 private:
  Result<Done> open_segment();
  void obey_cut();

  Directory& directory_;
  const std::vector<LogSegment>& segments_;
  std::size_t segment_ = 0;
  std::uint64_t begin_at_ = kSegmentHeaderBytes;
  std::unique_ptr<File> file_;
  Window::Memory memory_;
  std::unique_ptr<SegmentReader> reader_;  // null: the segment is still to be opened
  std::uint64_t stop_at_ = 0;              // where the last batch ends that counts, once known
  SegmentReader::Item item_;
};

}  // namespace xylem
