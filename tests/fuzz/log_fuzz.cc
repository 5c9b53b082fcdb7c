// Any bytes as a log: reader and recovery must not crash, hang or take memory out of proportion,
// and a log that was mended must say the same again, with nothing left to mend.
//
// Checksums keep random bytes out, so the input is a program: it builds a log as a server would,
// then damages it. Each step is a letter and a few bytes; what is no step is skipped.
//
//     s        begin a segment               b N ...  a batch of N % 8 records, two bytes each
//     i N      set the next index            z N      N zeros
//     g N ...  N bytes as they stand         o N      the last N bytes of the segment once more
//     x F A B  xor B to byte A of file F     t F A    cut file F at A
//     0 F A N  N zeros at A of file F        d F      remove file F
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/log_builder.h"
#include "xylem/core/command.h"

namespace xylem::test {
namespace {

void demand(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

class Program {
 public:
  explicit Program(std::string_view text) : text_(text) { log_.segment(1); }

  std::unique_ptr<MemoryDisk> run() {
    // Building comes before damage: the first step of damage ends it.
    while (!text_.empty() && build(text_.front())) {
    }
    auto disk = log_.disk();
    while (!text_.empty()) damage(*disk, byte());
    return disk;
  }

 private:
  std::uint8_t byte() {
    if (text_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(text_.front());
    text_.remove_prefix(1);
    return value;
  }
  std::size_t number() {
    const std::size_t low = byte();
    return low | std::size_t{byte()} << 8;
  }

  bool build(char step) {
    if (std::string_view("xt0d").find(step) != std::string_view::npos) return false;
    byte();
    switch (step) {
      case 's':
        log_.segment();
        break;
      case 'b':
        batch();
        break;
      case 'i':
        log_.index(BatchIndex{1} + byte());
        break;
      case 'z':
        log_.zeros(number());
        break;
      case 'g': {
        const std::string_view bytes = text_.substr(0, byte());
        text_.remove_prefix(bytes.size());
        log_.bytes(std::string(bytes));
        break;
      }
      case 'o': {
        const std::string& bytes = log_.last_bytes();
        log_.bytes(bytes.substr(bytes.size() - std::min(number(), bytes.size())));
        break;
      }
      default:
        break;
    }
    return true;
  }

  void batch() {
    std::vector<Record> records;
    for (int count = byte() % 8; count > 0; --count) {
      static const std::vector<Record> kSamples = sample_records();
      const std::uint8_t kind = byte();
      records.push_back(with_id(kSamples[kind % kSamples.size()], JobId{1} + byte()));
    }
    if (!records.empty()) log_.batch(records);
  }

  static Record with_id(Record record, JobId id) {
    std::visit(
        overloaded{[](PauseRecord&) {}, [](FlushRecord&) {}, [id](auto& one) { one.id = id; }},
        record);
    return record;
  }

  void damage(MemoryDisk& disk, std::uint8_t step) {
    auto names = disk.list();
    if (names.value().empty()) return;
    const std::string name = names.value()[byte() % names.value().size()];
    std::string bytes = disk.contents(name);
    const std::size_t at = step == 'd' ? 0 : number() % (bytes.size() + 1);
    if (step == 'x' && at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ byte());
    if (step == 't') bytes.resize(at);
    if (step == '0') {
      const std::size_t replaced = std::min<std::size_t>(byte(), bytes.size() - at);
      bytes.replace(at, replaced, byte(), '\0');
    }
    if (step == 'd') {
      (void)disk.remove(name);
    } else {
      disk.put(name, bytes);
    }
  }

  std::string_view text_;
  LogBuilder log_;
};

std::size_t bytes_of(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  return bytes;
}

void check(MemoryDisk& disk) {
  const std::uint64_t used = disk.used_bytes();
  const Outcome first = recovered(disk);
  // A record's text is some 200 bytes, a record 17 at least.
  demand(bytes_of(first.heard.texts) <= 20 * used, "records in proportion to the files");
  const Outcome second = recovered(disk);
  demand(second.heard.texts == first.heard.texts, "the same records again");
  demand(second.heard.segments == first.heard.segments, "in the same segments");
  demand(second.found.torn_tail.empty() || second.found.segments.empty(), "nothing left to mend");
  demand(second.found.last_id == first.found.last_id, "the same ids");
  demand(second.found.damage.size() == first.found.damage.size(), "the same damage");
}

}  // namespace
}  // namespace xylem::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4'000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  xylem::test::check(*xylem::test::Program(text).run());
  return 0;
}
