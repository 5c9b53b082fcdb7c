// Makes directories of binlogs byte by byte, written from the description of the format and not
// with the code that reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xylem::test {

// A record's fields as version 7 has them; times in nanoseconds.
struct Made {
  std::uint64_t id = 1;
  std::uint32_t pri = 0;
  std::int64_t delay_ns = 0;
  std::int64_t ttr_ns = 60'000'000'000;
  std::int64_t created_ns = 1'700'000'000'000'000'000;
  std::int64_t deadline_ns = 0;
  std::uint32_t reserves = 0;
  std::uint32_t timeouts = 0;
  std::uint32_t releases = 0;
  std::uint32_t buries = 0;
  std::uint32_t kicks = 0;
  int state = 1;
};
inline constexpr int kDeleted = 0;
inline constexpr int kReady = 1;
inline constexpr int kReserved = 2;
inline constexpr int kBuried = 3;
inline constexpr int kDelayed = 4;

// The bytes of one binlog.
class MadeFile {
 public:
  explicit MadeFile(std::int32_t version = 7) : version_(version) { put(version, 4); }

  // `body` comes with its CRLF. `body_size` other than its size is a lie.
  MadeFile& full(std::string_view tube, const Made& job, std::string_view body,
                 std::int64_t body_size = -1) {
    put(static_cast<std::int64_t>(tube.size()), version_ == 5 ? 8 : 4);
    bytes_ += tube;
    fields(job, body_size == -1 ? static_cast<std::int64_t>(body.size()) : body_size);
    bytes_ += body;
    return *this;
  }
  MadeFile& brief(const Made& job, std::int64_t body_size = 3) {
    put(0, version_ == 5 ? 8 : 4);
    fields(job, body_size);
    return *this;
  }
  MadeFile& zeros(std::size_t count) { return raw(std::string(count, '\0')); }
  MadeFile& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  MadeFile& cut(std::size_t count) {
    bytes_.resize(bytes_.size() - count);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void put(std::int64_t number, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>((number >> (8 * i)) & 0xff);
  }
  void fields(const Made& job, std::int64_t body_size) {
    const std::int64_t unit = version_ == 5 ? 1000 : 1;
    put(static_cast<std::int64_t>(job.id), 8);
    put(job.pri, 8);
    put(job.delay_ns / unit, 8);
    put(job.ttr_ns / unit, 8);
    put(body_size, 4);
    put(0x5a5a5a5a, 4);  // padding may be anything
    put(job.created_ns / unit, 8);
    put(job.deadline_ns / unit, 8);
    for (const auto n : {job.reserves, job.timeouts, job.releases, job.buries, job.kicks}) {
      put(n, 4);
    }
    put(job.state, version_ == 5 ? 1 : 4);
  }

  std::int32_t version_;
  std::string bytes_;
};

}  // namespace xylem::test
