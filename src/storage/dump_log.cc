// A record is first turned into named fields; the two formats differ in how they write these. The
// names are those of the protocol, or of the records.
#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "storage/dump_text.h"
#include "storage/log_cursor.h"
#include "xylem/core/command.h"
#include "xylem/storage/check_log.h"

namespace xylem {
namespace {

// A value is text, or else a number as it is written.
struct Field {
  std::string_view name;
  std::string number;
  std::string_view text{};
  bool is_text = false;
};

class Fields {
 public:
  explicit Fields(std::string_view its_type) : type(its_type) {}

  Fields& add(std::string_view name, std::uint64_t number) {
    list.push_back({name, fmt::to_string(number)});
    return *this;
  }
  Fields& add(std::string_view name, Time time) {
    const auto ticks = time.time_since_epoch().count();
    list.push_back(
        {name, fmt::format("{}.{:04}", ticks / Clock::period::den, ticks % Clock::period::den)});
    return *this;
  }
  Fields& add(std::string_view name, std::string_view text) {
    list.push_back({name, {}, text, true});
    return *this;
  }

  std::string_view type;
  std::vector<Field> list;
};

Fields fields_of(const PutRecord& put) {
  Fields fields("put");
  fields.add("id", put.id).add("tube", put.tube).add("state", name_of(put.state));
  fields.add("pri", put.pri).add("delay", put.delay).add("ttr", put.ttr);
  fields.add("created", put.created_at);
  if (put.state == JobState::kDelayed) fields.add("deadline", put.deadline_at);
  if (put.state == JobState::kBuried) fields.add("bury_order", put.bury_order);
  fields.add("reserves", put.reserves).add("timeouts", put.timeouts);
  fields.add("releases", put.releases).add("buries", put.buries).add("kicks", put.kicks);
  return fields.add("body", put.body);
}
Fields fields_of(const DeleteRecord& record) { return Fields("delete").add("id", record.id); }
Fields fields_of(const ReleaseRecord& release) {
  Fields fields("release");
  fields.add("id", release.id).add("pri", release.pri).add("delay", release.delay);
  if (release.delay > 0) fields.add("deadline", release.deadline_at);
  return fields;
}
Fields fields_of(const BuryRecord& bury) {
  return Fields("bury").add("id", bury.id).add("pri", bury.pri).add("bury_order", bury.bury_order);
}
Fields fields_of(const KickRecord& kick) { return Fields("kick").add("id", kick.id); }
Fields fields_of(const ReserveJobRecord& record) {
  return Fields("reserve-job").add("id", record.id).add("reserves", record.reserves);
}
Fields fields_of(const PauseRecord& pause) {
  Fields fields("pause-tube");
  return fields.add("tube", pause.tube).add("delay", pause.delay).add("until", pause.until);
}
Fields fields_of(const MoveRecord& move) {
  Fields fields("move-jobs");
  fields.add("id", move.id).add("tube", move.tube);
  if (move.bury_order != 0) fields.add("bury_order", move.bury_order);
  return fields;
}
Fields fields_of(const FlushRecord& flush) {
  Fields fields("flush-tube");
  fields.add("tube", flush.tube).add("state", flush.state ? name_of(*flush.state) : "all");
  fields.add("time", flush.at);
  for (std::size_t i = 0; i < flush.reserved.size(); ++i) fields.add("but", flush.reserved[i]);
  return fields;
}
Fields fields_of(const PriorityRecord& record) {
  return Fields("reprioritize").add("id", record.id).add("pri", record.pri);
}
Fields fields_of(const ReserveNote& note) {
  return Fields("reserve").add("id", note.id).add("reserves", note.reserves);
}
Fields fields_of(const TimeoutNote& note) {
  return Fields("timeout").add("id", note.id).add("timeouts", note.timeouts);
}
Fields fields_of(const IdNote& note) { return Fields("ids").add("id", note.id); }

std::string line_as_text(std::string_view file, std::uint64_t at, BatchIndex batch,
                         const Fields& fields) {
  std::string line = fmt::format("{} {} batch {} {}", file, at, batch, fields.type);
  for (const Field& field : fields.list) {
    line += fmt::format(" {} {}", field.name,
                        !field.is_text         ? field.number
                        : field.name == "body" ? quoted(field.text)
                                               : std::string(field.text));
  }
  return line;
}

std::string line_as_json(std::string_view file, std::uint64_t at, BatchIndex batch,
                         const Fields& fields) {
  std::string line =
      fmt::format(R"({{"file":"{}","at":{},"batch":{},"type":"{}")", file, at, batch, fields.type);
  for (const Field& field : fields.list) {
    if (!field.is_text) {
      line += fmt::format(R"(,"{}":{})", field.name, field.number);
    } else if (is_utf8(field.text)) {
      line += fmt::format(R"(,"{}":{})", field.name, json_string(field.text));
    } else {
      line += fmt::format(R"(,"{}_base64":"{}")", field.name, base64(field.text));
    }
  }
  return line + '}';
}

// The fields of what the cursor stands on; none if it has no line.
Result<std::optional<Fields>> fields_at(LogCursor& cursor, std::optional<Record>& record) {
  using Some = std::optional<Fields>;
  if (const auto* gap = std::get_if<SegmentReader::Gap>(&cursor.item())) {
    return Some(Fields("unverified").add("bytes", gap->bytes));
  }
  const auto* head = std::get_if<SegmentReader::Head>(&cursor.item());
  if (head == nullptr) return Some();
  auto loaded = cursor.record();
  if (!loaded) return loaded.error();
  record = loaded.value();
  if (!record)
    return Some(Fields("unverified").add("bytes", std::uint64_t{head->head.record_bytes()}));
  return Some(std::visit([](const auto& one) { return fields_of(one); }, *record));
}

}  // namespace

Result<Done> dump_log(Directory& directory, DumpFormat format, std::FILE* out) {
  auto segments = list_segments(directory);
  if (!segments) return segments.error();
  LogCursor cursor(directory, segments.value());
  BatchIndex batch = 0;
  for (;;) {
    auto more = cursor.next();
    if (!more) return more.error();
    if (!more.value()) return Done{};
    if (const auto* item = std::get_if<SegmentReader::Batch>(&cursor.item())) {
      batch = item->header.index;
    }
    std::optional<Record> record;  // what the fields' texts are views of
    auto fields = fields_at(cursor, record);
    if (!fields) return fields.error();
    if (!fields.value()) continue;
    const Place place = cursor.place();
    const std::string file = segment_name(segments.value()[place.segment].number);
    const auto write = format == DumpFormat::kJson ? line_as_json : line_as_text;
    const std::string line = write(file, place.at, batch, *fields.value()) + '\n';
    std::fwrite(line.data(), 1, line.size(), out);
  }
}

}  // namespace xylem
