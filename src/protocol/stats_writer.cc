// The YAML of statistics and lists (protocol.md, "Statistics"). The order, names and quotes are
// beanstalkd 1.13's, since clients read these with anything from a YAML parser to a regular
// expression; keys of our own stand behind them. Always flat, always "key: value".
#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <string>
#include <variant>

#include "xylem/check.h"
#include "xylem/core/command.h"
#include "xylem/protocol/writer.h"

namespace xylem {
namespace {

// What `caps` lists: commands of our own, with and without those that can be switched off.
constexpr std::string_view kAllCommands =
    "list-jobs\nflush-tube\nmove-jobs\nreprioritize\npeek-reserved\ndrain\nundrain\nstats-tubes\n";
constexpr std::string_view kSafeCommands = "list-jobs\npeek-reserved\nstats-tubes\n";

// Lines, each made on the stack and appended whole. A list of ten thousand tubes is 140,000 of
// them, so the text is cut into pieces that malloc has at hand: one of megabytes would be mapped,
// and its page faults would cost more than all else.
class Yaml {
 public:
  explicit Yaml(Lines& lines) : lines_(lines) { lines_.emplace_back(); }

  void number(std::string_view key, std::integral auto value) {
    std::array<char, 24> digits;
    const char* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    plain(key, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void quoted(std::string_view key, std::string_view text) { line(key, "\"", text, "\""); }
  void plain(std::string_view key, std::string_view text) { line(key, "", text, ""); }
  // Seconds, with six digits behind the point.
  void microseconds(std::string_view key, std::uint64_t count) {
    const std::string fraction = std::to_string(1'000'000 + count % 1'000'000).substr(1);
    plain(key, std::to_string(count / 1'000'000) + "." + fraction);
  }
  // Rounded down to one digit behind the point.
  void ratio(std::string_view key, std::uint64_t count, std::uint64_t of) {
    const std::uint64_t tenths = of == 0 ? 0 : count * 10 / of;
    plain(key, std::to_string(tenths / 10) + "." + std::to_string(tenths % 10));
  }
  // Keys from here on are of the next item of a list; what follows it is indented.
  void item() {
    lead_ = "- ";
    if (lines_.back().size() < kPieceBytes) return;
    lines_.emplace_back().reserve(kPieceBytes + 1'024);
  }

 private:
  static constexpr std::size_t kPieceBytes = 32'768;

  void line(std::string_view key, std::string_view open, std::string_view text,
            std::string_view close) {
    std::array<char, 512> bytes;
    const std::size_t most = bytes.size() - 64;
    CHECK(key.size() + text.size() < most);
    char* at = bytes.data();
    for (const std::string_view each : {lead_, key, std::string_view(": "), open, text, close}) {
      at += each.copy(at, each.size());
    }
    *at++ = '\n';
    if (!lead_.empty()) lead_ = "  ";
    lines_.back().append(bytes.data(), at);
  }

  Lines& lines_;
  std::string_view lead_;  // of the next line
};

void add_job_counts(Yaml& yaml, const JobCounts& jobs) {
  yaml.number("current-jobs-urgent", jobs.urgent);
  yaml.number("current-jobs-ready", jobs.ready);
  yaml.number("current-jobs-reserved", jobs.reserved);
  yaml.number("current-jobs-delayed", jobs.delayed);
  yaml.number("current-jobs-buried", jobs.buried);
}

void add_command_counts(Yaml& yaml, const CommandCounts& commands) {
  yaml.number("cmd-put", commands.put);
  yaml.number("cmd-peek", commands.peek);
  yaml.number("cmd-peek-ready", commands.peek_ready);
  yaml.number("cmd-peek-delayed", commands.peek_delayed);
  yaml.number("cmd-peek-buried", commands.peek_buried);
  yaml.number("cmd-reserve", commands.reserve);
  yaml.number("cmd-reserve-with-timeout", commands.reserve_with_timeout);
  yaml.number("cmd-delete", commands.delete_);
  yaml.number("cmd-release", commands.release);
  yaml.number("cmd-use", commands.use);
  yaml.number("cmd-watch", commands.watch);
  yaml.number("cmd-ignore", commands.ignore);
  yaml.number("cmd-bury", commands.bury);
  yaml.number("cmd-kick", commands.kick);
  yaml.number("cmd-touch", commands.touch);
  yaml.number("cmd-stats", commands.stats);
  yaml.number("cmd-stats-job", commands.stats_job);
  yaml.number("cmd-stats-tube", commands.stats_tube);
  yaml.number("cmd-list-tubes", commands.list_tubes);
  yaml.number("cmd-list-tube-used", commands.list_tube_used);
  yaml.number("cmd-list-tubes-watched", commands.list_tubes_watched);
  yaml.number("cmd-pause-tube", commands.pause_tube);
}

void add_own_commands(Yaml& yaml, const CommandCounts& commands) {
  yaml.number("cmd-caps", commands.caps);
  yaml.number("cmd-list-jobs", commands.list_jobs);
  yaml.number("cmd-flush-tube", commands.flush_tube);
  yaml.number("cmd-move-jobs", commands.move_jobs);
  yaml.number("cmd-reprioritize", commands.reprioritize);
  yaml.number("cmd-peek-reserved", commands.peek_reserved);
  yaml.number("cmd-drain", commands.drain);
  yaml.number("cmd-undrain", commands.undrain);
  yaml.number("cmd-stats-tubes", commands.stats_tubes);
}

void add_engine(Yaml& yaml, const EngineStats& engine, const ProcessStats& process) {
  add_job_counts(yaml, engine.jobs);
  add_command_counts(yaml, engine.commands);
  yaml.number("job-timeouts", engine.job_timeouts);
  yaml.number("total-jobs", engine.total_jobs);
  yaml.number("max-job-size", process.most_job_bytes);
  yaml.number("current-tubes", engine.current_tubes);
  yaml.number("current-connections", engine.current_connections);
  yaml.number("current-producers", engine.current_producers);
  yaml.number("current-workers", engine.current_workers);
  yaml.number("current-waiting", engine.current_waiting);
  yaml.number("total-connections", engine.total_connections);
}

void add_process(Yaml& yaml, const ProcessStats& process, bool draining) {
  yaml.number("pid", process.pid);
  yaml.quoted("version", process.version);
  yaml.microseconds("rusage-utime", process.user_time_us);
  yaml.microseconds("rusage-stime", process.system_time_us);
  yaml.number("uptime", process.uptime_seconds);
  yaml.number("binlog-oldest-index", process.log.oldest_segment);
  yaml.number("binlog-current-index", process.log.current_segment);
  yaml.number("binlog-records-migrated", process.log.records_migrated);
  yaml.number("binlog-records-written", process.log.records_written);
  yaml.number("binlog-max-size", process.log.segment_bytes);
  yaml.plain("draining", draining ? "true" : "false");
  yaml.plain("id", process.id);
  yaml.quoted("hostname", process.hostname);
  yaml.quoted("os", process.os);
  yaml.quoted("platform", process.platform);
  yaml.number("max-connections", process.most_connections);
  yaml.number("refused-connections", process.refused_connections);
}

void add_log(Yaml& yaml, const LogStats& log) {
  yaml.plain("log-state", log.state ? name_of(*log.state) : "none");
  yaml.number("log-bytes-live", log.live_bytes);
  yaml.number("log-bytes-total", log.total_bytes);
  yaml.number("log-segments", log.segments);
  yaml.number("log-damaged-records", log.damaged_records);
  yaml.number("log-fsyncs", log.fsyncs);
  yaml.ratio("log-records-per-fsync", log.records_synced, log.fsyncs);
  yaml.number("log-last-fsync-us", log.last_fsync_us);
  yaml.number("log-worst-fsync-us", log.worst_fsync_us);
}

void add_counters(Yaml& yaml, const JobStats& job) {
  yaml.number("reserves", job.reserves);
  yaml.number("timeouts", job.timeouts);
  yaml.number("releases", job.releases);
  yaml.number("buries", job.buries);
  yaml.number("kicks", job.kicks);
}

void add_job(Yaml& yaml, const JobStats& job) {
  yaml.number("id", job.id);
  yaml.quoted("tube", job.tube);
  yaml.plain("state", name_of(job.state));
  yaml.number("pri", job.pri);
  yaml.number("age", job.age);
  yaml.number("delay", job.delay);
  yaml.number("ttr", job.ttr);
  yaml.number("time-left", job.time_left);
  yaml.number("file", job.file);
  add_counters(yaml, job);
}

void add_tube(Yaml& yaml, const TubeStats& tube) {
  yaml.quoted("name", tube.name);
  add_job_counts(yaml, tube.jobs);
  yaml.number("total-jobs", tube.total_jobs);
  yaml.number("current-using", tube.using_count);
  yaml.number("current-watching", tube.watching_count);
  yaml.number("current-waiting", tube.waiting_count);
  yaml.number("cmd-delete", tube.delete_count);
  yaml.number("cmd-pause-tube", tube.pause_count);
  yaml.number("pause", tube.pause);
  yaml.number("pause-time-left", tube.pause_time_left);
}

void add_listed(Yaml& yaml, const ListedJob& job) {
  yaml.item();
  yaml.number("id", job.stats.id);
  yaml.plain("state", name_of(job.stats.state));
  yaml.number("pri", job.stats.pri);
  yaml.number("age", job.stats.age);
  yaml.number("delay", job.stats.delay);
  yaml.number("ttr", job.stats.ttr);
  yaml.number("time-left", job.stats.time_left);
  yaml.number("size", job.body_bytes);
  add_counters(yaml, job.stats);
  if (job.stats.state == JobState::kBuried) yaml.number("bury-order", job.bury_order);
}

// Of a list that may be long: its length is counted, so that the names are copied once.
std::string list_lines(std::string_view names) {
  constexpr std::string_view kBullet = "- ";
  const auto count = static_cast<std::size_t>(std::ranges::count(names, '\n'));
  std::string lines;
  lines.reserve(count * kBullet.size() + names.size());
  while (!names.empty()) {
    const std::string_view line = names.substr(0, names.find('\n') + 1);
    lines.append(kBullet).append(line);
    names.remove_prefix(line.size());
  }
  return lines;
}

}  // namespace

void append_lines(Lines& lines, const ReplyDetails& details, const ProcessStats& process) {
  if (const auto* const list = std::get_if<TubeList>(&details)) {
    return lines.push_back(list_lines(list->names));
  }
  if (const auto* const caps = std::get_if<Capabilities>(&details)) {
    return lines.push_back(list_lines(caps->admin_commands ? kAllCommands : kSafeCommands));
  }
  Yaml yaml(lines);
  std::visit(overloaded{[](const std::monostate&) { CHECK(false); },
                        [&](const EngineStats& engine) {
                          add_engine(yaml, engine, process);
                          add_process(yaml, process, engine.draining);
                          add_log(yaml, process.log);
                          add_own_commands(yaml, engine.commands);
                        },
                        [&](const JobStats& job) { add_job(yaml, job); },
                        [&](const TubeStats& tube) { add_tube(yaml, tube); },
                        [&](const JobList& list) {
                          for (const ListedJob& job : list.jobs) add_listed(yaml, job);
                        },
                        [&](const TubeStatsList& list) {
                          for (const TubeStats& tube : list.tubes)
                            yaml.item(), add_tube(yaml, tube);
                        },
                        [](const TubeList&) {}, [](const Capabilities&) {}},
             details);
}

void write_block_head(std::string& out, const Lines& lines) {
  constexpr std::string_view kBegin = "---\n";
  std::size_t bytes = kBegin.size();
  for (const std::string& each : lines) bytes += each.size();
  out.append("OK ").append(std::to_string(bytes)).append("\r\n").append(kBegin);
}

void write_details(std::string& out, const ReplyDetails& details, const ProcessStats& process) {
  Lines lines;
  append_lines(lines, details, process);
  write_block_head(out, lines);
  for (const std::string& each : lines) out.append(each);
  out.append("\r\n");
}

}  // namespace xylem
