// The YAML of statistics and lists, to the byte. Each value is another number, so that no two keys
// can be exchanged unseen.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "xylem/protocol/writer.h"

namespace xylem::test {
namespace {

std::string written(const ReplyDetails& details, const ProcessStats& process = {}) {
  std::string out;
  write_details(out, details, process);
  return out;
}

std::string block(std::string_view yaml) {
  return "OK " + std::to_string(yaml.size()) + "\r\n" + std::string(yaml) + "\r\n";
}

EngineStats some_engine() {
  return {.jobs = {.urgent = 101, .ready = 102, .reserved = 103, .delayed = 104, .buried = 105},
          .commands = {.put = 201,
                       .peek = 202,
                       .peek_ready = 203,
                       .peek_delayed = 204,
                       .peek_buried = 205,
                       .reserve = 206,
                       .reserve_with_timeout = 207,
                       .delete_ = 208,
                       .release = 209,
                       .use = 210,
                       .watch = 211,
                       .ignore = 212,
                       .bury = 213,
                       .kick = 214,
                       .touch = 215,
                       .stats = 216,
                       .stats_job = 217,
                       .stats_tube = 218,
                       .list_tubes = 219,
                       .list_tube_used = 220,
                       .list_tubes_watched = 221,
                       .pause_tube = 222,
                       .caps = 701,
                       .list_jobs = 702,
                       .flush_tube = 703,
                       .move_jobs = 704,
                       .reprioritize = 705,
                       .peek_reserved = 706,
                       .drain = 707,
                       .undrain = 708,
                       .stats_tubes = 709},
          .job_timeouts = 301,
          .total_jobs = 302,
          .current_tubes = 304,
          .current_connections = 305,
          .current_producers = 306,
          .current_workers = 307,
          .current_waiting = 308,
          .total_connections = 309,
          .draining = false};
}

ProcessStats some_process() {
  return {.most_job_bytes = 303,
          .pid = 401,
          .version = "2.0",
          .user_time_us = 3'509,
          .system_time_us = 12'345'678,
          .uptime_seconds = 404,
          .log = {.state = LogState::kOk,
                  .oldest_segment = 405,
                  .current_segment = 406,
                  .records_migrated = 407,
                  .records_written = 408,
                  .live_bytes = 601,
                  .total_bytes = 602,
                  .segments = 603,
                  .damaged_records = 604,
                  .fsyncs = 605,
                  .records_synced = 1'693,
                  .last_fsync_us = 607,
                  .worst_fsync_us = 608},
          .id = "0123456789abcdef",
          .hostname = "a host",
          .os = "#1 SMP Debian",
          .platform = "x86_64",
          .most_connections = 501,
          .refused_connections = 502};
}

constexpr std::string_view kStats = R"yaml(---
current-jobs-urgent: 101
current-jobs-ready: 102
current-jobs-reserved: 103
current-jobs-delayed: 104
current-jobs-buried: 105
cmd-put: 201
cmd-peek: 202
cmd-peek-ready: 203
cmd-peek-delayed: 204
cmd-peek-buried: 205
cmd-reserve: 206
cmd-reserve-with-timeout: 207
cmd-delete: 208
cmd-release: 209
cmd-use: 210
cmd-watch: 211
cmd-ignore: 212
cmd-bury: 213
cmd-kick: 214
cmd-touch: 215
cmd-stats: 216
cmd-stats-job: 217
cmd-stats-tube: 218
cmd-list-tubes: 219
cmd-list-tube-used: 220
cmd-list-tubes-watched: 221
cmd-pause-tube: 222
job-timeouts: 301
total-jobs: 302
max-job-size: 303
current-tubes: 304
current-connections: 305
current-producers: 306
current-workers: 307
current-waiting: 308
total-connections: 309
pid: 401
version: "2.0"
rusage-utime: 0.003509
rusage-stime: 12.345678
uptime: 404
binlog-oldest-index: 405
binlog-current-index: 406
binlog-records-migrated: 407
binlog-records-written: 408
binlog-max-size: 10485760
draining: false
id: 0123456789abcdef
hostname: "a host"
os: "#1 SMP Debian"
platform: "x86_64"
max-connections: 501
refused-connections: 502
log-state: ok
log-bytes-live: 601
log-bytes-total: 602
log-segments: 603
log-damaged-records: 604
log-fsyncs: 605
log-records-per-fsync: 2.7
log-last-fsync-us: 607
log-worst-fsync-us: 608
cmd-caps: 701
cmd-list-jobs: 702
cmd-flush-tube: 703
cmd-move-jobs: 704
cmd-reprioritize: 705
cmd-peek-reserved: 706
cmd-drain: 707
cmd-undrain: 708
cmd-stats-tubes: 709
)yaml";

}  // namespace

TEST_CASE("stats") { CHECK(written(some_engine(), some_process()) == block(kStats)); }

TEST_CASE("stats while draining, just started, with a log of another size") {
  EngineStats engine = some_engine();
  engine.draining = true;
  ProcessStats process = some_process();
  process.user_time_us = 0;
  process.system_time_us = 1'000'000;
  process.log = {.state = LogState::kFailed, .segment_bytes = 4'096};
  const std::string text = written(engine, process);
  CHECK(text.find("\ndraining: true\n") != std::string::npos);
  CHECK(text.find("\nrusage-utime: 0.000000\nrusage-stime: 1.000000\n") != std::string::npos);
  CHECK(text.find("\nbinlog-max-size: 4096\n") != std::string::npos);
  CHECK(text.find("\nlog-state: failed\n") != std::string::npos);
  CHECK(text.find("\nlog-records-per-fsync: 0.0\n") != std::string::npos);
}

TEST_CASE("stats without a log") {
  const std::string text = written(some_engine(), ProcessStats{});
  CHECK(text.find("\nlog-state: none\nlog-bytes-live: 0\n") != std::string::npos);
}

TEST_CASE("stats-job, as observed on beanstalkd 1.13") {
  const JobStats job{.id = 1,
                     .tube = "default",
                     .state = JobState::kReserved,
                     .pri = 5,
                     .age = 2,
                     .ttr = 10,
                     .time_left = 8,
                     .reserves = 1};
  CHECK(written(job) ==
        "OK 149\r\n---\nid: 1\ntube: \"default\"\nstate: reserved\npri: 5\nage: 2\ndelay: 0\n"
        "ttr: 10\ntime-left: 8\nfile: 0\nreserves: 1\ntimeouts: 0\nreleases: 0\nburies: 0\n"
        "kicks: 0\n\r\n");
}

TEST_CASE("stats-job, every value") {
  JobStats job{.id = 18'446'744'073'709'551'615U,
               .tube = "-+/;.$_()",
               .state = JobState::kDelayed,
               .pri = 4'294'967'295,
               .age = 12,
               .delay = 13,
               .ttr = 14,
               .time_left = -4,
               .file = 16,
               .reserves = 17,
               .timeouts = 18,
               .releases = 19,
               .buries = 20,
               .kicks = 21};
  CHECK(written(job) == block(R"yaml(---
id: 18446744073709551615
tube: "-+/;.$_()"
state: delayed
pri: 4294967295
age: 12
delay: 13
ttr: 14
time-left: -4
file: 16
reserves: 17
timeouts: 18
releases: 19
buries: 20
kicks: 21
)yaml"));
  job.state = JobState::kReady;
  CHECK(written(job).find("\nstate: ready\n") != std::string::npos);
  job.state = JobState::kBuried;
  CHECK(written(job).find("\nstate: buried\n") != std::string::npos);
}

TEST_CASE("stats-tube") {
  const TubeStats tube{.name = "mail",
                       .jobs = {.urgent = 1, .ready = 2, .reserved = 3, .delayed = 4, .buried = 5},
                       .total_jobs = 6,
                       .using_count = 7,
                       .watching_count = 8,
                       .waiting_count = 9,
                       .delete_count = 10,
                       .pause_count = 11,
                       .pause = 12,
                       .pause_time_left = 13};
  CHECK(written(tube) == block(R"yaml(---
name: "mail"
current-jobs-urgent: 1
current-jobs-ready: 2
current-jobs-reserved: 3
current-jobs-delayed: 4
current-jobs-buried: 5
total-jobs: 6
current-using: 7
current-watching: 8
current-waiting: 9
cmd-delete: 10
cmd-pause-tube: 11
pause: 12
pause-time-left: 13
)yaml"));
}

TEST_CASE("list-jobs: bury-order stands only behind a buried job") {
  ListedJob job{.stats = {.id = 7,
                          .tube = {},
                          .state = JobState::kBuried,
                          .pri = 1,
                          .age = 2,
                          .delay = 3,
                          .ttr = 4,
                          .time_left = 5,
                          .file = 6,
                          .reserves = 8,
                          .timeouts = 9,
                          .releases = 10,
                          .buries = 11,
                          .kicks = 12},
                .body_bytes = 13,
                .bury_order = 14};
  ListedJob ready = job;
  ready.stats.id = 15;
  ready.stats.state = JobState::kReady;
  const std::string same = R"yaml(  pri: 1
  age: 2
  delay: 3
  ttr: 4
  time-left: 5
  size: 13
  reserves: 8
  timeouts: 9
  releases: 10
  buries: 11
  kicks: 12
)yaml";
  CHECK(written(JobList{{job, ready}}) ==
        block("---\n- id: 7\n  state: buried\n" + same +
              "  bury-order: 14\n- id: 15\n  state: ready\n" + same));
  CHECK(written(JobList{}) == block("---\n"));
}

TEST_CASE("stats-tubes: each tube as in stats-tube, indented") {
  TubeStats paused;
  paused.name = "b";
  paused.pause = 3;
  TubeStats plain;
  plain.name = "a";
  const std::string text = written(TubeStatsList{{plain, paused}});
  CHECK(text.find("---\n- name: \"a\"\n  current-jobs-urgent: 0\n") != std::string::npos);
  CHECK(text.find("\n  pause-time-left: 0\n- name: \"b\"\n") != std::string::npos);
  CHECK(text.ends_with("\n  pause: 3\n  pause-time-left: 0\n\r\n"));
}

TEST_CASE("caps: with and without what can be switched off") {
  CHECK(written(Capabilities{true}) == block("---\n- list-jobs\n- flush-tube\n- move-jobs\n- "
                                             "reprioritize\n- peek-reserved\n- drain\n- undrain\n"
                                             "- stats-tubes\n"));
  CHECK(written(Capabilities{false}) ==
        block("---\n- list-jobs\n- peek-reserved\n- stats-tubes\n"));
}

TEST_CASE("lists") {
  CHECK(written(TubeList{}) == "OK 4\r\n---\n\r\n");
  CHECK(written(TubeList{"default\n"}) == "OK 14\r\n---\n- default\n\r\n");
  CHECK(written(TubeList{"default\n12\ntrue\n"}) == block("---\n- default\n- 12\n- true\n"));
}

}  // namespace xylem::test
