// A record's type decides what its rest may be: kKinds is the table of that, and the same table is
// what a search for records behind broken bytes goes by.
#include "xylem/storage/record_codec.h"

#include <algorithm>
#include <array>
#include <limits>

#include "storage/bytes.h"
#include "storage/checksum.h"
#include "xylem/check.h"
#include "xylem/core/command.h"
#include "xylem/core/limits.h"

namespace xylem {
namespace {

enum Type : std::uint8_t {
  kPut = 1,
  kDelete = 2,
  kRelease = 3,
  kBury = 4,
  kKick = 5,
  kReserveJob = 6,
  kPause = 7,
  kMove = 8,
  kPriority = 9,
  kFlush = 10,
  kReserveNote = 16,
  kTimeoutNote = 17,
  kIdNote = 18,
};

constexpr std::uint8_t kStateBits = 3;
constexpr std::uint8_t kCountedBit = 4;
constexpr std::size_t kPlaceBytes = 6;
constexpr std::size_t kCounterBytes = 20;
constexpr std::size_t kPutBytes = 20;    // of a rest, without place, counters, name and body
constexpr std::size_t kMoveBytes = 6;    // likewise, without the name
constexpr std::size_t kFlushBytes = 8;   // likewise, without name and ids
constexpr std::size_t kPauseBytes = 10;  // likewise, without the name
static_assert(kMostBeforeBody ==
              kRestCheckBytes + kPutBytes + kPlaceBytes + kCounterBytes + limits::kTubeNameBytes);

// What the rest of a type may be long; nothing at all if `most` is less than `least`.
struct Kind {
  std::uint32_t least = 1;
  std::uint32_t most = 0;
};

constexpr auto kKinds = [] {
  std::array<Kind, 256> kinds{};
  constexpr auto fixed = [](std::uint32_t bytes) { return Kind{bytes, bytes}; };
  kinds[kPut] = {kPutBytes + 1, kPutBytes + kPlaceBytes + kCounterBytes + limits::kTubeNameBytes +
                                    limits::kMostJobBytes};
  kinds[kDelete] = fixed(0);
  kinds[kRelease] = fixed(14);
  kinds[kBury] = fixed(10);
  kinds[kKick] = fixed(0);
  kinds[kReserveJob] = fixed(4);
  kinds[kPause] = {kPauseBytes + 1, kPauseBytes + limits::kTubeNameBytes};
  kinds[kMove] = {kMoveBytes + 1, kMoveBytes + limits::kTubeNameBytes};
  kinds[kPriority] = fixed(4);
  kinds[kFlush] = {kFlushBytes + 1, std::numeric_limits<std::int32_t>::max()};
  kinds[kReserveNote] = fixed(4);
  kinds[kTimeoutNote] = fixed(4);
  kinds[kIdNote] = fixed(0);
  return kinds;
}();

constexpr std::uint64_t kMost48 = (std::uint64_t{1} << 48) - 1;

void append48(std::string& text, std::uint64_t number) {
  append_number<6>(text, std::min(number, kMost48));
}

void append_time(std::string& text, Time time) {
  append48(text,
           static_cast<std::uint64_t>(std::max<Clock::rep>(time.time_since_epoch().count(), 0)));
}

Time take_time(ByteReader& rest) {
  return Time(Duration(static_cast<Clock::rep>(rest.number<6>())));
}

bool is_counted(const PutRecord& put) {
  return (put.reserves | put.timeouts | put.releases | put.buries | put.kicks) != 0;
}

std::uint8_t state_bits(JobState state) {
  switch (state) {
    case JobState::kReady:
    case JobState::kReserved:
      return 0;
    case JobState::kDelayed:
      return 1;
    case JobState::kBuried:
      return 2;
  }
  CHECK(false);
}

// Head and rest, one behind the other, while a record is being written.
class RecordWriter {
 public:
  RecordWriter(std::string& text, Type type, JobId id) : text_(text), start_(text.size()) {
    text_.append(8, '\0');  // check and length, written later
    text_.push_back(static_cast<char>(type));
    append_number<8>(text_, id);
  }

  // `unwritten` bytes of the rest follow elsewhere.
  template <class Fill>
  void rest(std::size_t unwritten, Fill fill) {
    text_.append(kRestCheckBytes, '\0');
    fill(text_);
    const std::size_t written = text_.size() - start_ - kRecordHeadBytes - kRestCheckBytes;
    store_number<4>(text_.data() + start_ + 4, written + unwritten);
  }

 private:
  std::string& text_;
  std::size_t start_;
};

void append_put(std::string& text, const PutRecord& put) {
  const bool counted = is_counted(put);
  const std::uint8_t state = state_bits(put.state);
  text.push_back(static_cast<char>(state | (counted ? kCountedBit : 0)));
  append_number<4>(text, put.pri);
  append_number<4>(text, put.delay);
  append_number<4>(text, put.ttr);
  append_time(text, put.created_at);
  if (put.state == JobState::kDelayed) append_time(text, put.deadline_at);
  if (put.state == JobState::kBuried) append48(text, put.bury_order);
  if (counted) {
    for (const std::uint32_t count :
         {put.reserves, put.timeouts, put.releases, put.buries, put.kicks}) {
      append_number<4>(text, count);
    }
  }
  text.push_back(static_cast<char>(put.tube.size()));
  text.append(put.tube);
  if (put.buffer == nullptr) text.append(put.body);
}

void encode(const PutRecord& put, std::string& text) {
  CHECK(is_tube_name(put.tube) && put.body.size() <= limits::kMostJobBytes);
  RecordWriter(text, kPut, put.id)
      .rest(put.buffer == nullptr ? 0 : put.body.size(),
            [&](std::string& rest) { append_put(rest, put); });
}

void encode(const DeleteRecord& record, std::string& text) {
  RecordWriter(text, kDelete, record.id);
}

void encode(const ReleaseRecord& release, std::string& text) {
  RecordWriter(text, kRelease, release.id).rest(0, [&](std::string& rest) {
    append_number<4>(rest, release.pri);
    append_number<4>(rest, release.delay);
    append_time(rest, release.deadline_at);
  });
}

void encode(const BuryRecord& bury, std::string& text) {
  RecordWriter(text, kBury, bury.id).rest(0, [&](std::string& rest) {
    append_number<4>(rest, bury.pri);
    append48(rest, bury.bury_order);
  });
}

void encode(const KickRecord& kick, std::string& text) { RecordWriter(text, kKick, kick.id); }

void encode_count(std::string& text, Type type, JobId id, std::uint32_t count) {
  RecordWriter(text, type, id).rest(0, [&](std::string& rest) { append_number<4>(rest, count); });
}

void encode(const ReserveJobRecord& record, std::string& text) {
  encode_count(text, kReserveJob, record.id, record.reserves);
}

void encode(const PauseRecord& pause, std::string& text) {
  CHECK(is_tube_name(pause.tube));
  RecordWriter(text, kPause, 0).rest(0, [&](std::string& rest) {
    append_number<4>(rest, pause.delay);
    append_time(rest, pause.until);
    rest.append(pause.tube);
  });
}

void encode(const MoveRecord& move, std::string& text) {
  CHECK(is_tube_name(move.tube));
  RecordWriter(text, kMove, move.id).rest(0, [&](std::string& rest) {
    append48(rest, move.bury_order);
    rest.append(move.tube);
  });
}

void encode(const FlushRecord& flush, std::string& text) {
  CHECK(is_tube_name(flush.tube));
  RecordWriter(text, kFlush, 0).rest(0, [&](std::string& rest) {
    rest.push_back(static_cast<char>(flush.state ? 1 + state_bits(*flush.state) : 0));
    append_time(rest, flush.at);
    rest.push_back(static_cast<char>(flush.tube.size()));
    rest.append(flush.tube).append(flush.reserved.bytes);
  });
}

void encode(const PriorityRecord& record, std::string& text) {
  encode_count(text, kPriority, record.id, record.pri);
}

void encode(const ReserveNote& note, std::string& text) {
  encode_count(text, kReserveNote, note.id, note.reserves);
}

void encode(const TimeoutNote& note, std::string& text) {
  encode_count(text, kTimeoutNote, note.id, note.timeouts);
}

void encode(const IdNote& note, std::string& text) { RecordWriter(text, kIdNote, note.id); }

bool take_state(std::uint8_t bits, JobState& state) {
  if (bits > 2) return false;
  constexpr std::array kStates{JobState::kReady, JobState::kDelayed, JobState::kBuried};
  state = kStates[bits];
  return true;
}

// All but the body; what is left of `rest` then is the body.
std::optional<PutRecord> take_put(JobId id, ByteReader& rest) {
  PutRecord put;
  put.id = id;
  const auto flags = static_cast<std::uint8_t>(rest.number<1>());
  const bool counted = (flags & kCountedBit) != 0;
  if (flags > (kStateBits | kCountedBit) || !take_state(flags & kStateBits, put.state)) return {};
  put.pri = rest.u32();
  put.delay = rest.u32();
  put.ttr = rest.u32();
  put.created_at = take_time(rest);
  const std::size_t more =
      (put.state == JobState::kReady ? 0 : kPlaceBytes) + (counted ? kCounterBytes : 0);
  if (rest.left() < more + 2) return {};  // a name and its length
  if (put.state == JobState::kDelayed) put.deadline_at = take_time(rest);
  if (put.state == JobState::kBuried) put.bury_order = rest.number<6>();
  if (counted) {
    for (std::uint32_t* count :
         {&put.reserves, &put.timeouts, &put.releases, &put.buries, &put.kicks}) {
      *count = rest.u32();
    }
  }
  const auto name_bytes = static_cast<std::size_t>(rest.number<1>());
  if (rest.left() < name_bytes) return {};
  put.tube = rest.text(name_bytes);
  if (!is_tube_name(put.tube)) return {};
  return put;
}

std::optional<Record> decode_put(JobId id, ByteReader rest, std::string_view long_body) {
  std::optional<PutRecord> put = take_put(id, rest);
  if (!put || (!long_body.empty() && rest.left() > 0)) return {};
  put->body = long_body.empty() ? rest.text(rest.left()) : long_body;
  if (put->body.size() > limits::kMostJobBytes) return {};
  return *put;
}

std::optional<Record> decode_pause(ByteReader rest) {
  PauseRecord pause;
  pause.delay = rest.u32();
  pause.until = take_time(rest);
  pause.tube = rest.text(rest.left());
  if (!is_tube_name(pause.tube)) return {};
  return pause;
}

std::optional<Record> decode_move(JobId id, ByteReader rest) {
  MoveRecord move{.id = id, .tube = {}, .bury_order = rest.number<6>()};
  move.tube = rest.text(rest.left());
  if (!is_tube_name(move.tube)) return {};
  return move;
}

std::optional<Record> decode_flush(ByteReader rest) {
  FlushRecord flush;
  const auto states = static_cast<std::uint8_t>(rest.number<1>());
  JobState state{};
  if (states > 0 && !take_state(static_cast<std::uint8_t>(states - 1), state)) return {};
  if (states > 0) flush.state = state;
  flush.at = take_time(rest);
  const auto name_bytes = static_cast<std::size_t>(rest.number<1>());
  if (rest.left() < name_bytes) return {};
  flush.tube = rest.text(name_bytes);
  if (!is_tube_name(flush.tube) || rest.left() % 8 != 0) return {};
  flush.reserved = {rest.text(rest.left())};
  return flush;
}

std::optional<Record> decode_fields(const RecordHead& head, ByteReader rest,
                                    std::string_view long_body) {
  switch (head.type) {
    case kPut:
      return decode_put(head.id, rest, long_body);
    case kDelete:
      return DeleteRecord{head.id};
    case kRelease: {
      ReleaseRecord release{.id = head.id, .pri = rest.u32(), .delay = rest.u32()};
      release.deadline_at = take_time(rest);
      return release;
    }
    case kBury:
      return BuryRecord{.id = head.id, .pri = rest.u32(), .bury_order = rest.number<6>()};
    case kKick:
      return KickRecord{head.id};
    case kReserveJob:
      return ReserveJobRecord{head.id, rest.u32()};
    case kPause:
      return decode_pause(rest);
    case kMove:
      return decode_move(head.id, rest);
    case kFlush:
      return decode_flush(rest);
    case kPriority:
      return PriorityRecord{head.id, rest.u32()};
    case kReserveNote:
      return ReserveNote{head.id, rest.u32()};
    case kTimeoutNote:
      return TimeoutNote{head.id, rest.u32()};
    case kIdNote:
      return IdNote{head.id};
    default:
      return {};
  }
}

}  // namespace

void encode_record(const Record& record, std::string& text) {
  std::visit([&](const auto& one) { encode(one, text); }, record);
}

void seal_record(char* start, std::string_view long_body, std::uint64_t seed) {
  store_number<4>(start, check32({start + 4, kRecordHeadBytes - 4}, seed));
  const std::uint64_t rest_bytes = load_number<4>(start + 4);
  if (rest_bytes == 0) return;
  CHECK(long_body.size() < rest_bytes);
  char* check = start + kRecordHeadBytes;
  const std::string_view fields(check + kRestCheckBytes, rest_bytes - long_body.size());
  store_number<4>(check, check32(fields, long_body, seed));
}

std::optional<RecordHead> decode_head(std::string_view bytes, std::uint64_t seed) {
  if (bytes.size() < kRecordHeadBytes) return std::nullopt;
  const RecordHead head{.rest_bytes = static_cast<std::uint32_t>(load_number<4>(&bytes[4])),
                        .type = static_cast<std::uint8_t>(bytes[8]),
                        .id = load_number<8>(&bytes[9])};
  const Kind& kind = kKinds[head.type];
  if (head.rest_bytes < kind.least || head.rest_bytes > kind.most) return std::nullopt;
  if ((head.id == 0) != (head.type == kPause || head.type == kFlush)) return std::nullopt;
  const std::string_view checked = bytes.substr(4, kRecordHeadBytes - 4);
  if (load_number<4>(bytes.data()) != check32(checked, seed)) return std::nullopt;
  return head;
}

std::optional<Record> decode_rest(const RecordHead& head, std::string_view rest,
                                  std::string_view long_body, std::uint64_t seed) {
  CHECK(rest.size() + long_body.size() == head.record_bytes() - kRecordHeadBytes);
  if (rest.empty()) return decode_fields(head, ByteReader({}), {});
  const std::string_view fields = rest.substr(kRestCheckBytes);
  if (load_number<4>(rest.data()) != check32(fields, long_body, seed)) return std::nullopt;
  return decode_fields(head, ByteReader(fields), long_body);
}

std::optional<std::size_t> body_offset(std::string_view rest) {
  if (rest.size() < kRestCheckBytes + kPutBytes + 1) return std::nullopt;
  ByteReader reader(rest.substr(kRestCheckBytes));
  if (!take_put(1, reader)) return std::nullopt;
  return rest.size() - reader.left();
}

}  // namespace xylem
