// The loop's side of the log: where batches go, what is durable when, what becomes of full and
// failed disks, and which files there are.
#include "xylem/storage/log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/memory_disk.h"

namespace xylem {
namespace {

using test::MemoryDisk;

constexpr std::uint64_t kSegment = 65'536;

// A log on a disk in memory, and somebody who runs its tasks.
class Rig {
 public:
  explicit Rig(const Recovered& found = {}) : Rig(std::make_unique<MemoryDisk>(), found) {}
  Rig(std::unique_ptr<MemoryDisk> its_disk, const Recovered& found) : disk(std::move(its_disk)) {
    auto opened = WriteAheadLog::open(*disk, kSegment, found);
    REQUIRE(opened.ok());
    log = std::move(opened).value();
  }

  void put(JobId id, std::size_t body_bytes) {
    const std::string body(body_bytes, 'x');
    log->append(PutRecord{.id = id, .tube = "t", .ttr = 1, .body = body});
  }
  // One write; false if there was none.
  bool write(bool sync) {
    auto task = log->begin_write({}, sync);
    if (task == nullptr) return false;
    task->run();
    moved.insert(moved.end(), task->moved.begin(), task->moved.end());
    log->finish(std::move(task));
    return true;
  }
  bool chore() {
    auto task = log->begin_chore();
    if (task == nullptr) return false;
    task->run();
    log->finish(std::move(task));
    return true;
  }
  // All that can be done now.
  void run(bool sync = true) {
    while (write(sync) || chore()) continue;
  }
  std::vector<std::string> files() {
    auto names = disk->list();
    REQUIRE(names.ok());
    std::ranges::sort(names.value());
    return names.value();
  }

  std::unique_ptr<MemoryDisk> disk;
  std::unique_ptr<WriteAheadLog> log;
  std::vector<MovedRecords> moved;
};

TEST_CASE("a log begins with a segment and a spare") {
  Rig rig;
  CHECK(rig.files() == std::vector<std::string>{"log.0000000001", "log.0000000002"});
  CHECK(rig.log->current() == 1);
  CHECK(rig.log->total_bytes() == 2 * kSegment);
  CHECK_FALSE(rig.write(true));
  CHECK_FALSE(rig.chore());
}

TEST_CASE("a record is durable when a sync that began after it has ended") {
  Rig rig;
  CHECK(rig.log->position() == rig.log->durable());
  rig.put(1, 10);
  const BatchIndex first = rig.log->position();
  auto write = rig.log->begin_write({}, true);
  REQUIRE(write != nullptr);
  rig.put(2, 10);
  const BatchIndex second = rig.log->position();
  CHECK(second == first + 1);
  CHECK(rig.log->begin_write({}, true) == nullptr);  // one at a time
  write->run();
  CHECK(rig.log->durable() < first);
  rig.log->finish(std::move(write));
  CHECK(rig.log->durable() == first);
  CHECK(rig.write(true));
  CHECK(rig.log->durable() == second);
}

TEST_CASE("a write without a sync makes nothing durable; a later sync needs no new record") {
  Rig rig;
  rig.put(1, 10);
  CHECK(rig.write(false));
  CHECK(rig.log->durable() == 1);  // the first of a segment is always synced
  rig.put(2, 10);
  CHECK(rig.write(false));
  CHECK(rig.log->durable() == 1);
  CHECK_FALSE(rig.write(false));
  CHECK(rig.write(true));
  CHECK(rig.log->durable() == rig.log->position());
  CHECK_FALSE(rig.write(true));
}

TEST_CASE("no reply waits for a note") {
  Rig rig;
  rig.log->append(ReserveNote{7, 1});
  CHECK(rig.log->position() == 0);
  CHECK(rig.log->newest() == 1);
  CHECK(rig.write(false));
  rig.put(8, 1);
  CHECK(rig.log->position() == 2);
}

TEST_CASE("a batch that does not fit goes to the spare, and its records are told as moved") {
  Rig rig;
  rig.put(1, 40'000);
  rig.run();
  rig.put(2, 40'000);
  CHECK(rig.write(true));
  CHECK(rig.log->current() == 2);
  REQUIRE(rig.moved.size() == 1);
  CHECK(rig.moved[0].to == 2);
  CHECK(rig.moved[0].jobs == std::vector<JobId>{2});
  rig.put(3, 10);
  rig.run();
  CHECK(rig.moved.size() == 1);
  // The first is cut behind its last batch, and there is a new spare.
  CHECK(rig.disk->contents("log.0000000001").size() < 45'000);
  CHECK(rig.files().size() == 3);
  CHECK(rig.log->sealed_bytes() == in_blocks(rig.disk->contents("log.0000000001").size()));
}

TEST_CASE(
    "without a spare batches wait, in order, and what was waiting is written when there is one") {
  Rig rig;
  rig.put(1, 40'000);
  REQUIRE(rig.write(true));
  rig.put(2, 40'000);
  REQUIRE(rig.write(true));  // into the spare
  rig.put(3, 40'000);
  rig.put(4, 10);
  CHECK_FALSE(rig.write(true));
  CHECK(rig.log->waiting_bytes() > 40'000);
  rig.run();
  CHECK(rig.log->waiting_bytes() == 0);
  CHECK(rig.log->durable() == rig.log->position());
  CHECK(rig.log->current() == 3);
}

TEST_CASE("a batch larger than a segment gets a file of its own size") {
  Rig rig;
  rig.put(1, 10);
  rig.run();
  rig.put(2, 300'000);
  rig.put(3, 10);
  rig.run();
  CHECK(rig.log->durable() == rig.log->position());
  CHECK(rig.log->current() == 3);
  CHECK(rig.disk->contents("log.0000000002").size() > 300'000);
  CHECK(rig.disk->contents("log.0000000003").size() == kSegment);
  CHECK(rig.log->sealed_bytes() > 300'000);
}

TEST_CASE("a full disk: the spare cannot be had, what fits is written, and all goes on later") {
  Rig rig;
  rig.disk->set_capacity(2 * kSegment);
  rig.put(1, 40'000);
  rig.run();
  rig.put(2, 40'000);
  rig.run();
  CHECK(rig.log->is_full());
  CHECK_FALSE(rig.log->has_failed());
  rig.put(3, 10);
  rig.run();
  CHECK(rig.log->durable() == rig.log->position());
  rig.put(4, 40'000);
  rig.run();
  CHECK(rig.log->durable() < rig.log->position());
  const auto names = rig.files();
  CHECK(std::ranges::find(names, "log.0000000003") == names.end());
  rig.log->try_again();
  rig.run();
  CHECK(rig.log->is_full());
  rig.disk->set_capacity(10 * kSegment);
  rig.log->try_again();
  rig.run();
  CHECK_FALSE(rig.log->is_full());
  CHECK(rig.log->durable() == rig.log->position());
}

using Room = WriteAheadLog::Room;

TEST_CASE("room for a record larger than a segment is made before it is appended, and not kept") {
  Rig rig;
  CHECK(rig.log->room_for(60'000) == Room::kYes);
  CHECK(rig.log->room_for(300'000) == Room::kNotYet);
  rig.chore();
  REQUIRE(rig.log->room_for(300'000) == Room::kYes);
  rig.put(1, 10);
  rig.put(2, 290'000);
  rig.run();
  CHECK(rig.log->durable() == rig.log->position());
  CHECK(rig.log->room_for(400'000) == Room::kNotYet);
  rig.chore();
  CHECK(rig.log->segment_count() == 3);
  CHECK(rig.log->total_bytes() > 600'000);
  rig.log->forget_wishes();
  rig.run();
  CHECK(rig.log->total_bytes() < 500'000);
}

TEST_CASE("what waits in front is counted when room is asked for") {
  Rig rig;
  rig.put(1, 50'000);
  CHECK(rig.log->room_for(14'000) == Room::kYes);
  CHECK(rig.log->room_for(16'000) == Room::kNotYet);
  rig.run();
  CHECK(rig.log->room_for(16'000) == Room::kYes);
}

TEST_CASE("until a spare is there, or cannot be had, half of the segment is kept from puts") {
  Rig rig;
  rig.put(1, 50'000);
  rig.write(true);
  rig.put(2, 20'000);
  rig.write(true);  // into the spare
  CHECK(rig.log->room_for(10'000) == Room::kYes);
  CHECK(rig.log->room_for(25'000) == Room::kNotYet);
  SUBCASE("there is one") {
    rig.chore();
    CHECK(rig.log->room_for(25'000) == Room::kYes);
  }
  SUBCASE("the disk is full") {
    rig.disk->set_capacity(2 * kSegment);
    rig.chore();
    CHECK(rig.log->is_full());
    CHECK(rig.log->room_for(25'000) == Room::kNo);
  }
}

TEST_CASE("a full disk has no room for a large record, and goes on with small ones") {
  Rig rig;
  rig.disk->set_capacity(3 * kSegment);
  CHECK(rig.log->room_for(300'000) == Room::kNotYet);
  rig.chore();
  CHECK(rig.log->room_for(300'000) == Room::kNo);
  CHECK(rig.log->room_for(400'000) == Room::kNo);
  CHECK_FALSE(rig.chore());
  CHECK(rig.log->refuses_large());
  CHECK_FALSE(rig.log->is_full());
  for (JobId id = 1; id < 5; ++id) {
    REQUIRE(rig.log->room_for(30'000) == Room::kYes);
    rig.put(id, 30'000);
    rig.run();
  }
  CHECK(rig.log->durable() == rig.log->position());
  rig.disk->set_capacity(20 * kSegment);
  rig.log->try_again();
  CHECK(rig.log->room_for(300'000) == Room::kNotYet);
  rig.chore();
  CHECK(rig.log->room_for(300'000) == Room::kYes);
}

TEST_CASE("a failed write fails the log for good, and nothing more is written") {
  Rig rig;
  rig.put(1, 10);
  rig.disk->fail_at(1);
  CHECK(rig.write(true));
  CHECK(rig.log->has_failed());
  CHECK(rig.log->durable() == 0);
  const std::uint64_t operations = rig.disk->operation_count();
  rig.put(2, 10);
  CHECK_FALSE(rig.write(true));
  CHECK_FALSE(rig.chore());
  CHECK(rig.disk->operation_count() == operations);
}

TEST_CASE("after a failure nothing waits, and nothing is gathered any more") {
  Rig rig;
  rig.put(1, 10);
  rig.disk->fail_at(1);
  auto write = rig.log->begin_write({}, true);
  rig.put(2, 40'000);
  write->run();
  rig.log->finish(std::move(write));
  CHECK(rig.log->waiting_bytes() == 0);
  rig.put(3, 40'000);
  CHECK(rig.log->waiting_bytes() == 0);
}

TEST_CASE("a segment that cannot be read is set aside by the start, not removed") {
  auto disk = std::make_unique<MemoryDisk>();
  disk->put("log.0000000004", std::string(5'000, 'x'));
  Recovered found;
  found.unreadable = {4};
  found.next_number = 5;
  const Rig rig(std::move(disk), found);
  CHECK(rig.disk->has("log.0000000004.damaged"));
  CHECK(rig.log->current() == 5);
}

TEST_CASE("what a start goes on with has been synced") {
  Rig rig;
  rig.put(1, 100);
  rig.run();
  const std::uint64_t end = rig.disk->contents("log.0000000001").size();
  Recovered found;
  found.segments.push_back({.number = 1, .bytes = end, .end = 2'000, .salt = 5});
  found.next_number = 3;
  found.spares = {2};
  auto killed = rig.disk->after_kill();
  const std::uint64_t before = killed->sync_count();
  const Rig again(std::move(killed), found);
  CHECK(again.disk->sync_count() > before);
}

TEST_CASE("only the oldest goes, and a damaged one is set aside under another name") {
  Rig rig;
  for (JobId id = 1; id <= 4; ++id) {
    rig.put(id, 40'000);
    rig.run();
  }
  CHECK(rig.log->oldest() == 1);
  REQUIRE(rig.log->sealed(0));
  const std::uint64_t before = rig.log->total_bytes();
  rig.log->remove_oldest(1);
  rig.run();
  CHECK_FALSE(rig.log->is_removing());
  CHECK(rig.log->oldest() == 2);
  CHECK(rig.log->total_bytes() < before);
  CHECK_FALSE(rig.disk->has("log.0000000001"));
}

TEST_CASE("a stop gives back the spare and the unused end; a start goes on in the last segment") {
  Rig rig;
  rig.put(1, 100);
  rig.run();
  REQUIRE(rig.log->close().ok());
  CHECK(rig.files() == std::vector<std::string>{"log.0000000001"});
  const std::uint64_t end = rig.disk->contents("log.0000000001").size();
  CHECK(end < 2'000);

  Recovered found;
  found.segments.push_back({.number = 1, .bytes = end, .end = end, .salt = 5});
  found.next_number = 2;
  found.last_index = 1;
  Rig again(std::move(rig.disk), found);
  CHECK(again.log->current() == 1);
  CHECK(again.log->position() == 1);
  again.put(2, 100);
  again.run();
  CHECK(again.log->current() == 1);
  REQUIRE(again.log->close().ok());
  CHECK(again.disk->contents("log.0000000001").size() > end);
}

TEST_CASE("a start on a disk without space for a segment is an error") {
  MemoryDisk disk;
  disk.set_capacity(1'000);
  auto opened = WriteAheadLog::open(disk, kSegment, {});
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().text.find("no space") != std::string::npos);
}

}  // namespace
}  // namespace xylem
