// Reading the records of one file. What can be there, and what it means:
//
//   fewer bytes than a length, or zeros to the end       the end
//   id 0 after L = 0                                     the end; zeros set aside for later follow
//   fields that make no sense, zeros behind them         torn: a server was killed within a record
//   a record that goes on past the end of the file       torn
//   a body without CRLF and nothing behind it            torn: it was not written
//   a body without CRLF and a record behind it           taken, and counted: a few bytes are wrong
//   a body without CRLF and something else behind it     damage: its size is wrong
//   L > 200, an unknown state, an id or a size that no
//   server gives                                         damage: what follows cannot be found
//
// If you change this, also: the tests of each row in tests/storage/binlog_test.cc.
#include "storage/binlog_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

#include "xylem/core/limits.h"

namespace xylem::binlog {
namespace {

constexpr std::uint64_t kHighestId = std::numeric_limits<std::int64_t>::max();

bool all_zero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) { return c == '\0'; });
}

class Scan {
 public:
  Scan(FileWindow& window, std::size_t file, Index& index)
      : window_(window), file_(file), index_(index) {
    result_.bytes = window.size();
  }

  BinlogFile run() {
    read_version();
    while (!ended_) read_record();
    if (window_.error() != 0) {
      stop(BinlogEnd::kDamaged,
           "cannot be read: " + std::generic_category().message(window_.error()));
    }
    result_.end_at = at_;
    return std::move(result_);
  }

 private:
  void stop(BinlogEnd end, std::string why) {
    ended_ = true;
    result_.end = end;
    result_.why = std::move(why);
  }
  void complete() { stop(BinlogEnd::kComplete, ""); }
  void torn(std::string why) { stop(BinlogEnd::kTorn, std::move(why)); }
  void damaged(std::string why) { stop(BinlogEnd::kDamaged, std::move(why)); }

  void read_version();
  void read_record();
  void read_full(const std::string& tube, const Fields& fields);
  // What in the fields no server writes; empty if nothing.
  [[nodiscard]] std::string nonsense_in(const Fields& fields) const;
  [[nodiscard]] bool ends_at(std::uint64_t offset);
  [[nodiscard]] bool record_at(std::uint64_t offset);

  FileWindow& window_;
  std::size_t file_;
  Index& index_;
  Layout layout_{};
  BinlogFile result_;
  std::uint64_t at_ = 0;
  bool ended_ = false;
};

// A server that is killed right after it has made a file leaves it empty, or full of zeros.
void Scan::read_version() {
  const std::string_view bytes = window_.view(0, kVersionBytes);
  if (bytes.size() < kVersionBytes) return torn("the file ends before its version");
  result_.version = version_from(bytes);
  const std::optional<Layout> layout = layout_of(result_.version);
  if (layout) {
    layout_ = *layout;
    at_ = kVersionBytes;
  } else if (all_zero(window_.view(0, kWindowBytes))) {
    torn("the version was not written");
  } else {
    stop(BinlogEnd::kUnknownVersion, fmt::format("version {} is not known", result_.version));
  }
}

void Scan::read_record() {
  const std::string_view length_bytes = window_.view(at_, layout_.length_bytes);
  if (length_bytes.size() < layout_.length_bytes) return complete();
  const std::uint64_t name_bytes = length_from(length_bytes, layout_);
  if (name_bytes > limits::kTubeNameBytes) {
    return damaged("the length of a tube's name is more than 200");
  }
  const std::size_t head_bytes = layout_.length_bytes + name_bytes + layout_.job_bytes;
  const std::string_view head = window_.view(at_, head_bytes);
  if (head.size() < head_bytes) {
    return all_zero(head) ? complete() : torn("the file ends within a record");
  }
  const std::string_view job = head.substr(layout_.length_bytes + name_bytes);
  const Fields fields = fields_from(job);
  if (fields.id == 0 && name_bytes == 0) return complete();
  if (std::string nonsense = nonsense_in(fields); !nonsense.empty()) {
    const bool unfinished = fields.state == 0 && ends_at(at_ + head_bytes);
    return unfinished ? torn("a record was not written to its end") : damaged(std::move(nonsense));
  }
  if (name_bytes > 0) {
    return read_full(std::string(head.substr(layout_.length_bytes, name_bytes)), fields);
  }
  index_.apply_short(fields, layout_);
  at_ += head_bytes;
  ++result_.records;
}

// The name is a copy, so that the window never has to move back for it.
void Scan::read_full(const std::string& tube, const Fields& fields) {
  const std::uint64_t body_at = at_ + layout_.length_bytes + tube.size() + layout_.job_bytes;
  const std::uint64_t next_at = body_at + static_cast<std::uint64_t>(fields.body_size);
  if (next_at > window_.size()) {
    return torn(fmt::format("the file ends within the body of job {}", fields.id));
  }
  const bool body_ended = window_.view(next_at - kCrlfBytes, kCrlfBytes) == "\r\n";
  if (!body_ended && ends_at(next_at)) {
    return torn(fmt::format("the body of job {} was not written to its end", fields.id));
  }
  if (!body_ended && !record_at(next_at)) {
    return damaged(fmt::format("the body of job {} is not where its size says", fields.id));
  }
  if (window_.error() != 0) return complete();  // run() says what it was
  index_.apply_full(tube, fields, layout_, Place{file_, body_at}, body_ended);
  at_ = next_at;
  ++result_.records;
}

std::string Scan::nonsense_in(const Fields& fields) const {
  if (fields.id == 0 || fields.id > kHighestId) return fmt::format("a job has id {}", fields.id);
  if (fields.state > static_cast<std::uint8_t>(State::kDelayed)) {
    return fmt::format("the state of job {} is {}", fields.id, fields.state);
  }
  constexpr std::int64_t kMost = std::int64_t{limits::kMostJobBytes} + kCrlfBytes;
  const bool fits =
      fields.body_size >= static_cast<std::int32_t>(kCrlfBytes) && fields.body_size <= kMost;
  if (!fits) {
    return fmt::format("the body of job {} has {} bytes", fields.id, fields.body_size);
  }
  return {};
}

// Are there no more records from here on?
bool Scan::ends_at(std::uint64_t offset) {
  return all_zero(window_.view(offset, layout_.length_bytes + layout_.job_bytes));
}

// Is there something from here on that could be a record?
bool Scan::record_at(std::uint64_t offset) {
  const std::string_view length_bytes = window_.view(offset, layout_.length_bytes);
  if (length_bytes.size() < layout_.length_bytes) return false;
  const std::uint64_t name_bytes = length_from(length_bytes, layout_);
  if (name_bytes > limits::kTubeNameBytes) return false;
  const std::uint64_t job_at = offset + layout_.length_bytes + name_bytes;
  const std::string_view job = window_.view(job_at, layout_.job_bytes);
  return job.size() == layout_.job_bytes && nonsense_in(fields_from(job)).empty();
}

}  // namespace

BinlogFile scan(FileWindow& window, std::size_t file, Index& index) {
  return Scan(window, file, index).run();
}

}  // namespace xylem::binlog
