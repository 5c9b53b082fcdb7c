// One place, at_, that only goes forward; the search moves it too, so that its cost is one look at
// each byte. What is at at_ is a record if a batch is not over, else a batch, a record that has
// lost its batch, or zeros.
#include "storage/segment_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "storage/checksum.h"
#include "xylem/check.h"
#include "xylem/core/limits.h"

namespace xylem {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
// A batch header or a record that verifies has a byte that is not zero among its first nine: a
// batch its index, a record its type.
constexpr std::size_t kNeverZeroBytes = 9;

std::size_t zeros_before(std::string_view bytes) {
  static constexpr char kZeros[4'096] = {};
  std::size_t count = 0;
  while (count + sizeof kZeros <= bytes.size() &&
         std::memcmp(bytes.data() + count, kZeros, sizeof kZeros) == 0) {
    count += sizeof kZeros;
  }
  return std::min(bytes.find_first_not_of('\0', count), bytes.size());
}

}  // namespace

Result<SegmentReader::Start> SegmentReader::start() {
  auto size = window_.measure();
  if (!size) return size.error();
  Start start;
  start.file_bytes = size.value();
  auto bytes = window_.view(0, kSegmentHeaderBytes);
  if (!bytes) return bytes.error();
  start.header = decode_segment_header(bytes.value().substr(0, kSegmentHeaderBytes));
  if (start.header) {
    salt_ = start.header->header.salt;
    first_index_ = start.header->header.first_index;
    seek(kSegmentHeaderBytes);
    return start;
  }
  auto end = end_of_bytes(0);
  if (!end) return end.error();
  start.blank = end.value() == 0;
  return start;
}

void SegmentReader::seek(std::uint64_t at) {
  at_ = at;
  batch_end_ = at;
  least_index_ = first_index_;
}

Result<SegmentReader::Item> SegmentReader::next() {
  const std::size_t least = in_batch() ? kRecordHeadBytes : kBatchHeaderBytes;
  auto bytes = window_.view(at_, least);
  if (!bytes) return bytes.error();
  if (in_batch()) {
    const auto found = decode_head(bytes.value(), seed(at_));
    const std::uint64_t limit = std::min(batch_end_, window_.file_bytes());
    if (found && at_ + found->record_bytes() <= limit) return head(*found);
  } else if (const auto found = batch_header(bytes.value())) {
    return batch(*found);
  }
  return search();
}

// An index that does not rise is none of a log: no writer has put it there.
std::optional<BatchHeader> SegmentReader::batch_header(std::string_view bytes) const {
  const std::optional<BatchHeader> found = decode_batch_header(bytes, seed(at_));
  return found && found->index >= least_index_ ? found : std::nullopt;
}

SegmentReader::Item SegmentReader::batch(const BatchHeader& header) {
  const Batch batch{header, at_};
  least_index_ = header.index + 1;
  batch_end_ = batch.end();
  at_ += kBatchHeaderBytes;
  return batch;
}

SegmentReader::Item SegmentReader::head(const RecordHead& head) {
  last_head_ = {head, at_};
  at_ += head.record_bytes();
  return last_head_;
}

// Goes on to the next place where something verifies: inside a batch a record, or the batch's end;
// elsewhere a batch, or a record that has lost its batch.
Result<SegmentReader::Item> SegmentReader::search() {
  const std::uint64_t from = at_;
  const bool batched = in_batch();
  const std::uint64_t limit = std::min(batched ? batch_end_ : kNoLimit, window_.file_bytes());
  std::uint64_t bytes_end = from;  // behind the last byte that is not zero
  while (at_ < limit) {
    auto bytes = window_.view(at_, kBatchHeaderBytes);
    if (!bytes) return bytes.error();
    if (bytes.value().empty()) break;  // it was cut meanwhile
    if (const std::size_t zeros = zeros_before(bytes.value()); zeros >= kNeverZeroBytes) {
      const bool at_end = at_ + zeros >= window_.file_bytes();
      at_ += at_end ? zeros : zeros - (kNeverZeroBytes - 1);
      continue;
    }
    const bool is_zero = bytes.value().front() == '\0';
    if (!batched && batch_header(bytes.value())) return gap(from, at_);
    auto found = whole_record(bytes.value(), limit);
    if (!found) return found.error();
    if (found.value()) return at_ > from ? gap(from, at_) : Item(head(*found.value()));
    ++at_;
    if (!is_zero) bytes_end = at_;
  }
  if (batched) {
    batch_end_ = limit;
    return gap(from, limit);
  }
  if (bytes_end > from) return gap(from, bytes_end);
  at_ = from;
  return Item(End{from});
}

SegmentReader::Item SegmentReader::gap(std::uint64_t from, std::uint64_t to) {
  at_ = to;
  return Gap{from, to - from};
}

// The head at at_, if the record verifies and ends before `limit`.
Result<std::optional<RecordHead>> SegmentReader::whole_record(std::string_view bytes,
                                                              std::uint64_t limit) {
  const std::optional<RecordHead> found = decode_head(bytes, seed(at_));
  if (!found || at_ + found->record_bytes() > limit) return std::optional<RecordHead>();
  auto record = load({*found, at_});
  if (!record) return record.error();
  return record.value() ? found : std::nullopt;
}

Result<std::optional<Record>> SegmentReader::record() { return load(last_head_); }

Result<std::optional<Record>> SegmentReader::load(const Head& which) {
  const std::size_t rest_bytes = which.head.record_bytes() - kRecordHeadBytes;
  if (which.head.is_put() && rest_bytes > limits::kInlineBodyBytes) return load_put(which);
  return load_short(which);
}

Result<std::optional<Record>> SegmentReader::load_short(const Head& which) {
  const std::size_t rest_bytes = which.head.record_bytes() - kRecordHeadBytes;
  if (rest_bytes > Window::kBytes) return load_large(which, rest_bytes);
  auto bytes = window_.view(which.at + kRecordHeadBytes, rest_bytes);
  if (!bytes) return bytes.error();
  if (bytes.value().size() < rest_bytes) return std::optional<Record>();
  return decode_rest(which.head, bytes.value().substr(0, rest_bytes), {}, seed(which.at));
}

// A flush that names more reserved jobs than a window holds.
Result<std::optional<Record>> SegmentReader::load_large(const Head& which, std::size_t rest_bytes) {
  const std::uint64_t rest_at = which.at + kRecordHeadBytes;
  if (rest_at + rest_bytes > window_.file_bytes()) return std::optional<Record>();
  large_rest_.resize(rest_bytes);
  if (auto done = window_.read(rest_at, large_rest_); !done) return done.error();
  return decode_rest(which.head, large_rest_, {}, seed(which.at));
}

// A put whose body may be a long one.
Result<std::optional<Record>> SegmentReader::load_put(const Head& which) {
  const std::size_t rest_bytes = which.head.record_bytes() - kRecordHeadBytes;
  const std::uint64_t rest_at = which.at + kRecordHeadBytes;
  auto bytes = window_.view(rest_at, kMostBeforeBody);
  if (!bytes) return bytes.error();
  const std::string_view rest = bytes.value().substr(0, rest_bytes);
  const std::optional<std::size_t> offset = body_offset(rest);
  if (!offset) return std::optional<Record>();
  const std::size_t body_bytes = rest_bytes - *offset;
  if (body_bytes <= limits::kInlineBodyBytes) return load_short(which);

  long_body_ = Buffer::make(static_cast<std::uint32_t>(body_bytes) + 2);
  auto done = window_.read(rest_at + *offset, {long_body_->data(), body_bytes});
  if (!done) return done.error();
  auto record = decode_rest(which.head, rest.substr(0, *offset), {long_body_->data(), body_bytes},
                            seed(which.at));
  if (!record) return record;
  long_body_->filled(static_cast<std::uint32_t>(body_bytes));
  long_body_->append("\r\n");
  std::get<PutRecord>(*record).buffer = long_body_.get();
  return record;
}

Result<std::uint64_t> SegmentReader::end_of_bytes(std::uint64_t at) {
  std::uint64_t end = at;
  while (at < window_.file_bytes()) {
    auto bytes = window_.view(at, 1);
    if (!bytes) return bytes.error();
    const std::string_view piece = bytes.value();
    if (piece.empty()) break;
    if (zeros_before(piece) < piece.size()) end = at + piece.find_last_not_of('\0') + 1;
    at += piece.size();
  }
  return end;
}

}  // namespace xylem
