// The summary of an import as lines of text. A warning is what may have cost jobs; a record that a
// killed server did not finish was never answered, so it is none.
#include <fmt/format.h>

#include <algorithm>

#include "xylem/storage/binlog.h"

namespace xylem {
namespace {

std::string text_of(const BinlogCounts& jobs) {
  return fmt::format("{} ready, {} delayed, {} buried", jobs.ready, jobs.delayed, jobs.buried);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

BinlogLine line_of(const BinlogGap& gap) {
  return {true, gap.first == gap.last
                    ? fmt::format("binlog.{} is missing", gap.first)
                    : fmt::format("binlog.{} to binlog.{} are missing", gap.first, gap.last)};
}

BinlogLine line_of(const BinlogFile& file) {
  const std::string taken = fmt::format("{}: {} jobs taken", file.name, file.jobs);
  switch (file.end) {
    case BinlogEnd::kComplete:
      return {false, taken};
    case BinlogEnd::kTorn:
      return {false, fmt::format("{}; the last record, at byte {}, was not finished, as after a "
                                 "kill: {}",
                                 taken, file.end_at, file.why)};
    case BinlogEnd::kDamaged:
      return {true, fmt::format("{}; damaged at byte {}: {}: {} bytes from there on were skipped",
                                taken, file.end_at, file.why, file.bytes - file.end_at)};
    case BinlogEnd::kUnknownVersion:
      return {true, fmt::format("{}: skipped: {}", file.name, file.why)};
  }
  return {};
}

BinlogLine line_of(const BinlogSkipped& skipped) {
  const char* more = skipped.jobs > skipped.examples.size() ? ", ..." : "";
  return {true, fmt::format("{} jobs skipped: {}: {}{}", skipped.jobs, skipped.why,
                            joined(skipped.examples), more)};
}

}  // namespace

std::vector<BinlogLine> lines_of(const BinlogSummary& summary) {
  std::vector<BinlogLine> lines;
  const auto add = [&](const auto& items) {
    for (const auto& item : items) lines.push_back(line_of(item));
  };
  add(summary.gaps);
  add(summary.files);
  for (const auto& [name, jobs] : summary.tubes) {
    lines.push_back({false, fmt::format("tube {}: {}", name, text_of(jobs))});
  }
  add(summary.skipped);
  if (summary.bodies_unended > 0) {
    lines.push_back({true, fmt::format("{} jobs were taken though no CRLF follows their body: "
                                       "they may be damaged",
                                       summary.bodies_unended)});
  }
  const std::uint64_t all = summary.jobs.ready + summary.jobs.delayed + summary.jobs.buried;
  lines.push_back({false, fmt::format("{} jobs imported: {}; the highest id is {}", all,
                                      text_of(summary.jobs), summary.highest_id)});
  return lines;
}

}  // namespace xylem
