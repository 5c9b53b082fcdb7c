// Debian's beanstalkd writes logs, by SIGTERM and by kill -9 under load, and the import is compared
// with what was put and with what beanstalkd itself reads out of a copy of the same directory.
// Where the two differ on purpose, the comparison says so.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/binlog/client.h"
#include "storage/binlog_import.h"
#include "storage/binlog_maker.h"
#include "support/temporary_folder.h"
#include "transcripts/server_process.h"

namespace xylem::test {
namespace {

using transcript::ServerProcess;
namespace fs = std::filesystem;

Time wall_now() {
  return Time(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

void start(ServerProcess& server, const std::string& folder,
           const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"-b", folder};
  arguments.insert(arguments.end(), more.begin(), more.end());
  REQUIRE(server.start(XYLEM_ORACLE, arguments) == "");
}

// The names, and all that could be changed of each file.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    struct stat status {};
    REQUIRE(::stat(entry.path().c_str(), &status) == 0);
    contents[entry.path().filename()] = std::to_string(status.st_mode) + ' ' +
                                        std::to_string(status.st_mtim.tv_sec) + '.' +
                                        std::to_string(status.st_mtim.tv_nsec) + ' ' +
                                        std::string(std::istreambuf_iterator<char>(file), {});
  }
  return contents;
}

// What beanstalkd reads out of a copy of the folder.
std::map<JobId, Shown> as_restarted(const std::string& folder, JobId highest) {
  const TemporaryFolder copy;
  fs::copy(folder, copy.path(), fs::copy_options::recursive);
  ServerProcess server;
  start(server, copy.path());
  return Client(server.connect()).show_all(highest);
}

void check_same(const Taken& job, const Shown& shown) {
  CAPTURE(job.record.id);
  const PutRecord& record = job.record;
  CHECK(job.tube == shown.stats.at("tube"));
  CHECK((job.body == shown.body));
  CHECK(record.pri == shown.number("pri"));
  CHECK(record.delay == shown.number("delay"));
  CHECK(record.ttr == shown.number("ttr"));
  CHECK(record.reserves == shown.number("reserves"));
  CHECK(record.timeouts == shown.number("timeouts"));
  CHECK(record.releases == shown.number("releases"));
  CHECK(record.kicks == shown.number("kicks"));
  const auto age = whole_seconds(wall_now() - record.created_at);
  CHECK(age - shown.number("age") >= 0);
  CHECK(age - shown.number("age") <= 30);
  if (record.state == JobState::kDelayed) {
    const auto left = whole_seconds(record.deadline_at - wall_now());
    CHECK(shown.number("time-left") - left >= 0);
    CHECK(shown.number("time-left") - left <= 30);
  }
}

// The import against the same jobs in a beanstalkd that was started on the log: it counts `buries`
// of buried jobs up.
void check_as_restarted(const Imported& imported, const std::map<JobId, Shown>& restarted) {
  REQUIRE(imported.error == "");
  REQUIRE(imported.jobs.size() == restarted.size());
  for (const Taken& job : imported.jobs) {
    REQUIRE(restarted.contains(job.record.id));
    const Shown& shown = restarted.at(job.record.id);
    check_same(job, shown);
    CHECK(name_of(job.record.state) == shown.stats.at("state"));
    const bool buried = job.record.state == JobState::kBuried;
    CHECK(job.record.buries + (buried ? 1 : 0) == shown.number("buries"));
  }
}

std::string word(JobId id) { return std::to_string(id); }

TEST_CASE("jobs of every state come over, and the old directory stays as it is") {
  const TemporaryFolder folder;
  ServerProcess server;
  start(server, folder.path());
  Client client(server.connect());
  const std::string largest(65'535, 'z');
  const JobId plain = client.put("hello", 7, 0, 61);
  const JobId empty = client.put("", 4'294'967'295U, 0, 1);
  const JobId binary = client.put(std::string("\0\r\n\xff", 4));
  const JobId delayed = client.put("later", 1, 1'000, 62);
  CHECK(client.ask("use other.tube+(1)") == "USING other.tube+(1)");
  CHECK(client.ask("watch other.tube+(1)") == "WATCHING 2");
  const JobId forever = client.put("d", 0, 4'294'967'295U, 4'294'967'295U);
  const JobId buried = client.put("b", 5);
  const JobId released = client.put("r", 6);
  const JobId kicked = client.put("k", 3);
  const JobId deleted = client.put("x", 2);
  const JobId reserved = client.put("w", 1);
  for (const JobId id : {buried, released, kicked, reserved}) CHECK(client.reserve(id));
  CHECK(client.ask("bury " + word(buried) + " 50") == "BURIED");
  CHECK(client.ask("release " + word(released) + " 60 500") == "RELEASED");
  CHECK(client.ask("bury " + word(kicked) + " 30") == "BURIED");
  CHECK(client.ask("kick-job " + word(kicked)) == "KICKED");
  CHECK(client.ask("delete " + word(deleted)) == "DELETED");

  SUBCASE("a server that runs is not read from") {
    const auto before = contents(folder.path());
    const Imported refused = import_folder(folder.path(), wall_now());
    CHECK(refused.error.find("is in use by process ") != std::string::npos);
    CHECK(refused.jobs.empty());
    CHECK((contents(folder.path()) == before));
  }
  SUBCASE("a stopped server's jobs") {
    std::map<JobId, Shown> live = client.show_all(reserved);
    REQUIRE(server.stop(false) == "");
    const auto before = contents(folder.path());
    const Imported imported = import_folder(folder.path(), wall_now());
    CHECK((contents(folder.path()) == before));
    REQUIRE(imported.ids() == std::vector<JobId>{plain, empty, binary, delayed, forever, buried,
                                                 released, kicked, reserved});
    live[reserved].stats["reserves"] = "0";  // reserving writes nothing
    std::map<JobId, const Taken*> by_id;
    for (const Taken& job : imported.jobs) {
      check_same(job, live.at(job.record.id));
      CHECK(job.record.buries == live.at(job.record.id).number("buries"));
      by_id[job.record.id] = &job;
    }
    const auto state = [&](JobId id) { return by_id.at(id)->record.state; };
    for (const JobId id : {plain, empty, binary, kicked, reserved}) {
      CHECK(state(id) == JobState::kReady);
    }
    for (const JobId id : {delayed, forever, released}) CHECK(state(id) == JobState::kDelayed);
    CHECK(state(buried) == JobState::kBuried);
    CHECK(by_id.at(buried)->record.bury_order == 1);
    CHECK(imported.summary.jobs == BinlogCounts{.ready = 5, .delayed = 3, .buried = 1});
    CHECK(imported.summary.highest_id == reserved);
    check_as_restarted(imported, as_restarted(folder.path(), reserved));
  }
  SUBCASE("jobs of the maximum size, which beanstalkd itself would lose") {
    const JobId large = client.put(largest);
    const JobId almost = client.put(largest.substr(1));
    const JobId behind = client.put("behind");
    REQUIRE(server.stop(false) == "");
    const Imported imported = import_folder(folder.path(), wall_now());
    REQUIRE(imported.jobs.size() == 12);
    CHECK((imported.jobs[9].record.id == large && imported.jobs[9].body == largest));
    CHECK((imported.jobs[10].record.id == almost && imported.jobs[10].body == largest.substr(1)));
    CHECK(imported.jobs[11].record.id == behind);
    CHECK(as_restarted(folder.path(), behind).size() == 9);
  }
}

// Small files, so that compaction writes old jobs again and deletes their files.
TEST_CASE("a log that was compacted gives what beanstalkd finds in it") {
  const TemporaryFolder folder;
  ServerProcess server;
  start(server, folder.path(), {"-s", "16384", "-F"});
  Client client(server.connect());
  std::mt19937 random(1);  // NOLINT: the same each time
  const auto below = [&](JobId n) {
    return std::uniform_int_distribution<JobId>(0, n - 1)(random);
  };
  std::vector<JobId> living;
  JobId highest = 0;
  for (int step = 0; step < 4'000; ++step) {
    if (step % 50 == 0) static_cast<void>(client.ask("use t" + std::to_string(below(5))));
    if (living.empty() || below(10) < 5) {
      const std::string body(below(600), static_cast<char>('a' + step % 26));
      highest = client.put(body, static_cast<std::uint32_t>(below(100)), below(4) == 0 ? 1'000 : 0);
      REQUIRE(highest != 0);
      living.push_back(highest);
      continue;
    }
    // The first jobs live longest, so that files at the old end stay.
    const std::size_t at =
        20 < living.size() && below(3) != 0 ? 20 + below(living.size() - 20) : below(living.size());
    const std::string id = word(living[at]);
    CHECK(client.reserve(living[at]));
    switch (below(10)) {
      case 0:
        static_cast<void>(client.ask("release " + id + " 9 2000"));
        break;
      case 1:
        static_cast<void>(client.ask("bury " + id + " 8"));
        break;
      case 2:
        static_cast<void>(client.ask("bury " + id + " 7"));
        CHECK(client.ask("kick-job " + id) == "KICKED");
        break;
      default:
        CHECK(client.ask("delete " + id) == "DELETED");
        living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  REQUIRE(server.stop(false) == "");
  const Imported imported = import_folder(folder.path(), wall_now());
  CHECK(imported.summary.files.size() > 3);
  CHECK_FALSE(fs::exists(folder.path() + "/binlog.1"));
  CHECK(imported.summary.highest_id == highest);
  const std::vector<JobId> ids = imported.ids();
  CHECK(std::set<JobId>(ids.begin(), ids.end()) == std::set<JobId>(living.begin(), living.end()));
  for (const BinlogFile& file : imported.summary.files) CHECK(file.end == BinlogEnd::kComplete);
  check_as_restarted(imported, as_restarted(folder.path(), highest));
}

// What one connection under load knows for sure.
struct Known {
  std::map<JobId, std::string> living;  // acknowledged, never deleted
  std::set<JobId> deleted;              // acknowledged
  std::set<JobId> unsure;               // a delete was sent, no reply came
  std::set<std::string> sent;           // every body
};

void load(Client& client, int number, Known& known) {
  std::mt19937 random(static_cast<unsigned>(number));
  for (int step = 0;; ++step) {
    const std::string mark = std::to_string(number) + ":" + std::to_string(step) + ":";
    const std::string body = mark + std::string(random() % 8 == 0 ? random() % 60'000 : 20, 'p');
    known.sent.insert(body);
    const JobId id = client.put(body);
    if (id == 0) return;
    known.living.emplace(id, body);
    if (random() % 2 == 0) continue;
    const auto victim = known.living.begin();
    known.unsure.insert(victim->first);
    if (client.ask("delete " + word(victim->first)) != "DELETED") return;
    known.unsure.erase(victim->first);
    known.deleted.insert(victim->first);
    known.living.erase(victim);
  }
}

void check_known(const Imported& imported, const std::vector<Known>& all) {
  std::map<JobId, std::string> bodies;
  for (const Taken& job : imported.jobs) {
    CHECK(bodies.emplace(job.record.id, job.body).second);
    bool sent = false;
    for (const Known& known : all) sent = sent || known.sent.contains(job.body);
    CHECK(sent);
  }
  std::size_t unacknowledged = bodies.size();
  for (const Known& known : all) {
    for (const auto& [id, body] : known.living) {
      if (bodies.contains(id)) --unacknowledged;
      const bool there = bodies.contains(id) && bodies.at(id) == body;
      CHECK((there || known.unsure.contains(id)));
    }
    for (const JobId id : known.deleted) CHECK_FALSE(bodies.contains(id));
  }
  CHECK(unacknowledged <= all.size());  // each had at most one put without a reply
}

TEST_CASE("kill -9 under load costs nothing that was acknowledged") {
  constexpr int kRounds = 5;
  constexpr int kConnections = 4;
  for (int round = 0; round < kRounds; ++round) {
    CAPTURE(round);
    const TemporaryFolder folder;
    ServerProcess server;
    start(server, folder.path(), {"-s", "1048576", "-F"});
    std::vector<Known> known(kConnections);
    std::vector<std::thread> threads;
    for (int number = 0; number < kConnections; ++number) {
      threads.emplace_back([&, number] {
        Client client(server.connect());
        load(client, number, known[static_cast<std::size_t>(number)]);
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 37 * round));
    server.signal(SIGKILL);
    for (std::thread& thread : threads) thread.join();
    CHECK(server.stop(false) != "");  // it was killed
    const Imported imported = import_folder(folder.path(), wall_now());
    REQUIRE(imported.error == "");
    CHECK(imported.jobs.size() > 20);
    for (const BinlogFile& file : imported.summary.files) CHECK(file.end != BinlogEnd::kDamaged);
    check_known(imported, known);
  }
}

}  // namespace
}  // namespace xylem::test
