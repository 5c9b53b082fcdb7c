// The naive twin of the import: binlogs as strings, jobs in a vector, written from the rules in
// xylem/storage/binlog.h and src/storage/binlog_scan.cc. Any quarrel between the two is a bug in
// one of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xylem::test {

class BinlogTwin {
 public:
  struct Job {
    std::uint64_t id = 0;
    std::string tube;
    std::string body;  // without its last two bytes
    std::uint64_t state = 0;
    std::uint64_t pri = 0;
    std::int64_t delay_ns = 0;
    std::int64_t deadline_ns = 0;
    std::vector<std::uint64_t> counters;  // reserves, timeouts, releases, buries, kicks
  };

  void read(std::string_view bytes) {
    if (bytes.size() < 4) return;
    const std::uint64_t version = number(bytes, 0, 4);
    if (version != 7 && version != 5) return;
    version_ = version;
    bytes_ = bytes;
    at_ = 4;
    while (read_record()) {
    }
  }

  [[nodiscard]] const std::vector<Job>& jobs() const { return jobs_; }
  [[nodiscard]] std::uint64_t highest_id() const { return highest_id_; }

 private:
  static std::uint64_t number(std::string_view bytes, std::size_t offset, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
    }
    return value;
  }

  [[nodiscard]] std::size_t length_bytes() const { return version_ == 7 ? 4 : 8; }
  [[nodiscard]] std::size_t job_bytes() const { return version_ == 7 ? 80 : 77; }

  // Are there a name's length and a job's fields at `at`, and do they make sense?
  [[nodiscard]] bool has_sense(std::size_t at) const {
    if (bytes_.size() < at + length_bytes()) return false;
    const std::uint64_t name_bytes = number(bytes_, at, length_bytes());
    if (name_bytes > 200) return false;
    const std::size_t job = at + length_bytes() + name_bytes;
    if (bytes_.size() < job + job_bytes()) return false;
    const std::uint64_t id = number(bytes_, job, 8);
    const std::uint64_t size = number(bytes_, job + 32, 4);
    return id != 0 && id >> 63 == 0 && size >= 2 && size <= (1U << 30) + 2 &&
           number(bytes_, job + 76, 1) <= 4;
  }

  // Whether another may follow.
  bool read_record() {
    if (!has_sense(at_)) return false;
    const std::uint64_t name_bytes = number(bytes_, at_, length_bytes());
    const std::size_t job = at_ + length_bytes() + name_bytes;
    const std::size_t body = job + job_bytes();
    const std::uint64_t size = name_bytes == 0 ? 0 : number(bytes_, job + 32, 4);
    if (bytes_.size() < body + size) return false;
    const bool ended = size == 0 || bytes_.substr(body + size - 2, 2) == "\r\n";
    if (!ended && !has_sense(body + size)) return false;
    const std::uint64_t id = number(bytes_, job, 8);
    highest_id_ = std::max(highest_id_, id);
    at_ = body + size;
    auto known = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& j) { return j.id == id; });
    if (number(bytes_, job + 76, 1) == 0) {
      if (known != jobs_.end()) jobs_.erase(known);
      return true;
    }
    if (known == jobs_.end()) {
      if (name_bytes == 0) return true;
      jobs_.push_back({.id = id,
                       .tube = std::string(bytes_.substr(job - name_bytes, name_bytes)),
                       .body = "",
                       .counters = {}});
      known = jobs_.end() - 1;
    }
    if (size > 0) known->body = bytes_.substr(body, size - 2);
    fill(*known, job);
    return true;
  }

  void fill(Job& job, std::size_t at) const {
    const std::int64_t unit = version_ == 7 ? 1 : 1'000;
    job.state = number(bytes_, at + 76, 1);
    job.pri = number(bytes_, at + 8, 4);
    job.delay_ns = saturated(number(bytes_, at + 16, 8), unit);
    job.deadline_ns = saturated(number(bytes_, at + 48, 8), unit);
    job.counters.clear();
    for (const std::size_t offset : {56U, 60U, 64U, 68U, 72U}) {
      job.counters.push_back(number(bytes_, at + offset, 4));
    }
  }

  static std::int64_t saturated(std::uint64_t bits, std::int64_t unit) {
    const auto value = static_cast<std::int64_t>(bits);
    return std::clamp(value, INT64_MIN / unit, INT64_MAX / unit) * unit;
  }

  std::vector<Job> jobs_;
  std::uint64_t highest_id_ = 0;
  std::uint64_t version_ = 7;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace xylem::test
