// Batch: records on their way to the log, encoded, under one header (segment.h). Long bodies are
// shared with their jobs, not copied. It is filled while its place is not known, then sealed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "xylem/core/buffer.h"
#include "xylem/core/record.h"
#include "xylem/storage/segment.h"

namespace xylem {

class Batch {
 public:
  Batch();

  // The record's views need live no longer than the call.
  void append(const Record& record);

  [[nodiscard]] bool empty() const { return record_count_ == 0; }
  [[nodiscard]] std::uint32_t record_count() const { return record_count_; }
  // Whether a reply waits for it: it holds more than notes.
  [[nodiscard]] bool has_records() const { return has_records_; }
  // Header included. At most 4 GiB; whoever gathers stops at about 1 MiB.
  [[nodiscard]] std::uint64_t bytes() const { return text_.size() + long_bytes_; }

  // Writes header and checks, for a batch that stands at `offset` of a segment with that salt.
  // record_count and record_bytes of `header` are filled in here.
  void seal(BatchHeader header, std::uint64_t salt, std::uint64_t offset);
  // The bytes to write, in order; views live as long as the batch is not changed or moved. May be
  // called, and the views read, on another thread after seal().
  [[nodiscard]] std::vector<std::string_view> parts() const;

  // Empties it for other records; memory is kept.
  void clear();

  // Ids of the puts and names of the pauses in it: what stands in its segment now.
  [[nodiscard]] const std::vector<JobId>& put_ids() const { return put_ids_; }
  [[nodiscard]] const std::vector<std::string>& paused_tubes() const { return paused_tubes_; }

 private:
  struct LongBody {
    std::size_t at;          // it stands in front of this byte of text_
    std::string_view bytes;  // of the buffer, without CRLF
    BufferRef buffer;
  };

  void note(const PutRecord& put);

  std::string text_;
  std::vector<LongBody> long_bodies_;
  std::uint64_t long_bytes_ = 0;
  std::uint32_t record_count_ = 0;
  bool has_records_ = false;
  std::vector<JobId> put_ids_;
  std::vector<std::string> paused_tubes_;
};

}  // namespace xylem
