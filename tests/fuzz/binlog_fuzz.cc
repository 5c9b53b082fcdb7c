// Any bytes as beanstalkd's binlogs: the import must take the jobs that its naive twin takes
// (storage/binlog_twin.h), and a file must say the same through a window of one byte. The first
// byte of the input chooses max-job-size; the rest is cut into files where a line has only "--".
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "storage/binlog_import.h"
#include "storage/binlog_maker.h"
#include "storage/binlog_scan.h"
#include "storage/binlog_twin.h"
#include "support/temporary_folder.h"

namespace xylem::test {
namespace {

constexpr std::array<std::uint32_t, 4> kJobBytes{limits::kDefaultJobBytes, 0, 3,
                                                 limits::kMostJobBytes};
constexpr std::string_view kCut = "\n--\n";
constexpr std::int64_t kNowNs = 1'700'000'100'000'000'000;
constexpr Time kNow{Duration(kNowNs / 100'000)};

void demand(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

std::vector<std::string_view> files_of(std::string_view input) {
  std::vector<std::string_view> files;
  for (auto cut = input.find(kCut); cut != input.npos; cut = input.find(kCut)) {
    files.push_back(input.substr(0, cut));
    input.remove_prefix(cut + kCut.size());
  }
  files.push_back(input);
  return files;
}

bool is_taken(const BinlogTwin::Job& job, std::uint32_t most_job_bytes) {
  return is_tube_name(job.tube) && job.body.size() <= most_job_bytes;
}

JobState state_of(const BinlogTwin::Job& job) {
  const bool delayed = job.state == 4 && job.delay_ns >= 1'000'000'000 && job.deadline_ns > kNowNs;
  return job.state == 3 ? JobState::kBuried : delayed ? JobState::kDelayed : JobState::kReady;
}

void demand_same(const Taken& taken, const BinlogTwin::Job& job) {
  const PutRecord& record = taken.record;
  demand(record.id == job.id, "jobs in the order of their first records");
  demand(taken.tube == job.tube && taken.body == job.body, "the same tube and body");
  demand(record.state == state_of(job) && record.pri == job.pri, "the same state and priority");
  demand(job.counters == std::vector<std::uint64_t>{record.reserves, record.timeouts,
                                                    record.releases, record.buries, record.kicks},
         "the same counters");
  const bool in_time =
      record.deadline_at > kNow && record.deadline_at <= kNow + seconds(record.delay);
  demand(record.state != JobState::kDelayed || in_time, "nothing waits longer than its delay");
  demand(record.created_at >= Time{} && record.created_at <= kNow, "no job is younger than new");
  demand(record.ttr > 0, "a ttr is a second or more");
}

void demand_same(const Imported& imported, const BinlogTwin& twin, std::uint32_t most_job_bytes) {
  std::size_t count = 0;
  std::uint64_t bury_order = 0;
  for (const BinlogTwin::Job& job : twin.jobs()) {
    if (!is_taken(job, most_job_bytes)) continue;
    demand(count < imported.jobs.size(), "as many jobs");
    const Taken& taken = imported.jobs[count++];
    demand_same(taken, job);
    const bool buried = taken.record.state == JobState::kBuried;
    demand(taken.record.bury_order == (buried ? ++bury_order : 0), "buried jobs are numbered");
  }
  demand(count == imported.jobs.size(), "no more jobs");
  demand(imported.summary.highest_id == twin.highest_id(), "the same highest id");
}

void demand_sums(const Imported& imported, std::size_t all) {
  const BinlogSummary& summary = imported.summary;
  std::uint64_t in_files = 0;
  for (const BinlogFile& file : summary.files) in_files += file.jobs;
  BinlogCounts in_tubes;
  for (const auto& [name, counts] : summary.tubes) {
    in_tubes.ready += counts.ready;
    in_tubes.delayed += counts.delayed;
    in_tubes.buried += counts.buried;
  }
  std::uint64_t skipped = 0;
  for (const BinlogSkipped& reason : summary.skipped) skipped += reason.jobs;
  demand(in_tubes == summary.jobs && in_files == imported.jobs.size(), "the sums agree");
  demand(in_files + skipped == all, "each job is taken or skipped");
  demand(lines_of(summary).size() >= summary.files.size(), "each file has its line");
}

void demand_same_in_any_window(const std::string& path) {
  const auto scanned = [&](std::size_t window_bytes, binlog::Index& index) {
    Result<binlog::FileWindow> window = binlog::FileWindow::open(path, window_bytes);
    demand(window.ok(), "the file can be opened");
    return binlog::scan(window.value(), 0, index);
  };
  binlog::Index large_index(3);
  binlog::Index small_index(3);
  const BinlogFile large = scanned(binlog::kWindowBytes, large_index);
  const BinlogFile small = scanned(1, small_index);
  demand(large.end == small.end && large.end_at == small.end_at && large.why == small.why &&
             large.records == small.records,
         "the same end through any window");
  demand(large.end_at <= large.bytes && (large.why.empty() == (large.end == BinlogEnd::kComplete)),
         "an end is inside, and has a reason");
  demand(large_index.in_order().size() == small_index.in_order().size(), "the same jobs");
}

void import_input(std::uint32_t most_job_bytes, std::string_view input) {
  static const TemporaryFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    std::filesystem::remove(entry.path());
  }
  BinlogTwin twin;
  int number = 0;
  for (const std::string_view file : files_of(input)) {
    const std::string name = "binlog." + std::to_string(++number);
    folder.write(name, file);
    twin.read(file);
    demand_same_in_any_window(folder.path() + "/" + name);
  }
  const Imported imported = import_folder(folder.path(), kNow, most_job_bytes);
  demand(imported.error.empty(), "any bytes can be read");
  demand_same(imported, twin, most_job_bytes);
  demand_sums(imported, twin.jobs().size());
}

}  // namespace
}  // namespace xylem::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using xylem::test::kJobBytes;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  xylem::test::import_input(kJobBytes[data[0] % kJobBytes.size()], input);
  return 0;
}
