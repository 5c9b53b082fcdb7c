// text_ is the batch without its long bodies: room for the header, then the records. Where a long
// body belongs is remembered as a place in text_, so that nothing moves when it is sealed.
#include "xylem/storage/batch.h"

#include <limits>

#include "storage/bytes.h"
#include "xylem/check.h"
#include "xylem/core/command.h"
#include "xylem/storage/record_codec.h"

namespace xylem {

Batch::Batch() : text_(kBatchHeaderBytes, '\0') {}

void Batch::append(const Record& record) {
  encode_record(record, text_);
  ++record_count_;
  has_records_ = has_records_ || !is_note(record);
  std::visit(
      overloaded{[this](const PutRecord& put) { note(put); },
                 [this](const PauseRecord& pause) { paused_tubes_.emplace_back(pause.tube); },
                 [](const auto&) {}},
      record);
}

void Batch::note(const PutRecord& put) {
  put_ids_.push_back(put.id);
  if (put.buffer == nullptr) return;
  const std::string_view bytes(put.buffer->data(), put.body.size());
  long_bodies_.push_back({text_.size(), bytes, BufferRef(put.buffer)});
  long_bytes_ += put.body.size();
}

void Batch::seal(BatchHeader header, std::uint64_t salt, std::uint64_t offset) {
  CHECK(record_count_ > 0);
  CHECK(bytes() - kBatchHeaderBytes <= std::numeric_limits<std::uint32_t>::max());
  header.record_count = record_count_;
  header.record_bytes = static_cast<std::uint32_t>(bytes() - kBatchHeaderBytes);
  const std::uint64_t seed = salt + offset;
  encode_batch_header(header, seed,
                      std::span<char, kBatchHeaderBytes>(text_.data(), kBatchHeaderBytes));

  auto body = long_bodies_.begin();
  std::uint64_t bodies_before = 0;
  std::size_t at = kBatchHeaderBytes;
  while (at < text_.size()) {
    const std::uint64_t rest_bytes = load_number<4>(&text_[at + 4]);
    std::size_t end = at + RecordHead{static_cast<std::uint32_t>(rest_bytes)}.record_bytes();
    std::string_view long_body;
    if (body != long_bodies_.end() && body->at <= end) {
      long_body = body->bytes;
      end = body->at;
      ++body;
    }
    seal_record(&text_[at], long_body, seed + at + bodies_before);
    bodies_before += long_body.size();
    at = end;
  }
}

void Batch::clear() {
  text_.resize(kBatchHeaderBytes);
  long_bodies_.clear();
  long_bytes_ = 0;
  record_count_ = 0;
  has_records_ = false;
  put_ids_.clear();
  paused_tubes_.clear();
}

std::vector<std::string_view> Batch::parts() const {
  const std::string_view text = text_;
  std::vector<std::string_view> parts;
  std::size_t done = 0;
  for (const LongBody& body : long_bodies_) {
    parts.push_back(text.substr(done, body.at - done));
    parts.push_back(body.bytes);
    done = body.at;
  }
  parts.push_back(text.substr(done));
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace xylem
