// The ready queue beside an ordered set: the first is the first, whichever lane, heap or run it
// stands in, from a handful of jobs to many sorted runs.
#include "xylem/core/ready_queue.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace xylem {
namespace {

struct Item {
  Item(std::uint32_t its_pri, JobId its_id) : id(its_id), pri(its_pri) {}

  union {
    Links<Item> links{};
    std::uint32_t heap_position;
  };
  JobId id;
  std::uint32_t pri;
  std::uint8_t lane = 0;
};

struct Before {
  bool operator()(const Item* a, const Item* b) const {
    return a->pri != b->pri ? a->pri < b->pri : a->id < b->id;
  }
};

using Queue = ReadyQueue<Item>;

constexpr std::uint8_t kLanes = 4;
static_assert(sizeof(Queue) <= 40, "a tube with one job is a promise");

std::vector<JobId> drain(Queue& queue) {
  std::vector<JobId> ids;
  while (Item* item = queue.front()) {
    ids.push_back(item->id);
    queue.erase(*item);
    queue.check();
  }
  return ids;
}

std::size_t in_heap(const Queue& queue) {
  std::size_t count = 0;
  queue.for_each([&](const Item& item) { count += item.lane >= kLanes ? 1 : 0; });
  return count;
}

TEST_CASE("ready queue: empty") {
  Queue queue;
  CHECK(queue.front() == nullptr);
  CHECK(queue.empty());
  CHECK(queue.size() == 0);
  queue.check();
}

TEST_CASE("ready queue: by priority, then by id") {
  Item a{5, 4}, b{5, 2}, c{0, 9}, d{4'294'967'295, 1}, e{5, 3}, f{1, 8}, g{3, 6}, h{2, 7};
  Queue queue;
  for (Item* item : {&a, &b, &c, &d, &e, &f, &g, &h}) {
    queue.insert(*item);
    queue.check();
  }
  CHECK(queue.size() == 8);
  CHECK(drain(queue) == std::vector<JobId>{9, 8, 7, 6, 2, 3, 4, 1});
  CHECK(queue.empty());
}

TEST_CASE("ready queue: a few priorities with rising ids stand in lanes") {
  std::vector<Item> items;
  for (JobId id = 1; id <= 400; ++id)
    items.emplace_back(static_cast<std::uint32_t>(id * 7 % kLanes), id);
  Queue queue;
  for (Item& item : items) queue.insert(item);
  queue.check();
  CHECK(in_heap(queue) == 0);
}

TEST_CASE("ready queue: jobs that come back to the front stand in a lane") {
  std::vector<Item> items;
  for (JobId id = 1; id <= 100; ++id) items.emplace_back(7, id);
  Queue queue;
  for (Item& item : items) queue.insert(item);
  for (std::size_t i = 0; i < 50; ++i) queue.erase(items[i]);
  for (std::size_t i = 50; i-- > 0;) queue.insert(items[i]);
  queue.check();
  for (const Item& item : items) REQUIRE(item.lane == 0);
  CHECK(queue.front() == &items[0]);
}

TEST_CASE("ready queue: jobs may leave from anywhere") {
  Item a{1, 1}, b{1, 2}, c{1, 3}, d{0, 4};
  Queue queue;
  for (Item* item : {&a, &b, &c, &d}) queue.insert(*item);
  queue.erase(b);
  queue.check();
  CHECK(queue.front() == &d);
  queue.erase(d);
  CHECK(queue.front() == &a);
  queue.erase(c);
  CHECK(drain(queue) == std::vector<JobId>{1});
}

// Jobs of random priority, enough for several runs; each way to leave has its turn.
class Crowd {
 public:
  explicit Crowd(std::uint32_t count) {
    std::minstd_rand random(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      items_.push_back(std::make_unique<Item>(static_cast<std::uint32_t>(random()), i + 1));
      queue_.insert(*items_.back());
      twin_.insert(items_.back().get());
    }
    queue_.check();
  }

  void erase(Item* item) {
    queue_.erase(*item);
    twin_.erase(item);
  }
  void erase_all_but_one_in(std::size_t step) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (i % step != 0) erase(items_[i].get());
    }
  }
  void check_drain() {
    for (std::size_t i = 0; !twin_.empty(); ++i) {
      REQUIRE(queue_.front() == *twin_.begin());
      erase(queue_.front());
      if (i % 1'999 == 0) queue_.check();
    }
    CHECK(queue_.empty());
    queue_.check();
  }
  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  std::vector<std::unique_ptr<Item>> items_;
  Queue queue_;
  std::set<Item*, Before> twin_;
};

TEST_CASE("ready queue: around the length of a run") {
  const std::uint32_t run = RunHeap<Item>::kRunSize;
  for (const std::uint32_t count : {run - 1, run, run + 1, run + 5, 2 * run + 10}) {
    CAPTURE(count);
    Crowd(count).check_drain();
  }
}

TEST_CASE("ready queue: many runs come out in order") { Crowd(100'000).check_drain(); }

TEST_CASE("ready queue: runs with holes come out in order") {
  for (const std::size_t step : {2U, 3U, 5U, 100U}) {
    CAPTURE(step);
    Crowd crowd(50'000);
    crowd.erase_all_but_one_in(step);
    crowd.queue().check();
    crowd.check_drain();
  }
}

// Random calls to the queue and a set. A run has its own mix of calls, priorities and length.
class Driver {
 public:
  explicit Driver(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t& weight : weights_) weight = below(10);
    weights_[0] += 1;
    priorities_ = std::array<std::uint32_t, 5>{1, 3, 10, 1'000, 2'147'483'646}[below(5)];
    most_ = std::array<std::size_t, 4>{3, 40, 1'000, 30'000}[below(4)];
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      REQUIRE(queue_.size() == twin_.size());
      REQUIRE(queue_.front() == (twin_.empty() ? nullptr : *twin_.begin()));
      if (below(10 + twin_.size()) == 0) queue_.check();
    }
    std::set<Item*, Before> seen;
    queue_.for_each([&](Item& item) { REQUIRE(seen.insert(&item).second); });
    REQUIRE(seen == twin_);
  }

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void step() {
    switch (pick()) {
      case 0:
        return put();
      case 1:
        return hold(twin_.begin());
      case 2:
        return hold(any());
      case 3:
        return erase(any());
      case 4:
        return release(below(priorities_));
      default:
        return release(0);
    }
  }

  std::size_t pick() {
    std::discrete_distribution<std::size_t> which(weights_.begin(), weights_.end());
    return which(random_);
  }

  std::set<Item*, Before>::iterator any() {
    Item key(below(priorities_), below(last_));
    const auto found = twin_.lower_bound(&key);
    return found == twin_.end() ? twin_.begin() : found;
  }

  void insert(Item* item) {
    queue_.insert(*item);
    twin_.insert(item);
  }
  void put() {
    if (twin_.size() >= most_) return erase(any());
    items_.push_back(std::make_unique<Item>(below(priorities_), last_++));
    insert(items_.back().get());
  }
  void erase(std::set<Item*, Before>::iterator victim) {
    if (victim == twin_.end()) return;
    queue_.erase(**victim);
    twin_.erase(victim);
  }
  // As a reserve or a bury does; release() brings it back.
  void hold(std::set<Item*, Before>::iterator victim) {
    if (victim == twin_.end()) return;
    held_.push_back(*victim);
    erase(victim);
  }
  void release(std::uint32_t pri) {
    if (held_.empty()) return;
    std::swap(held_[below(held_.size())], held_.back());
    held_.back()->pri = pri;
    insert(held_.back());
    held_.pop_back();
  }

  std::minstd_rand random_;
  std::array<std::uint32_t, 6> weights_{};
  std::uint32_t priorities_ = 1;
  std::size_t most_ = 0;
  JobId last_ = 1;
  Queue queue_;
  std::set<Item*, Before> twin_;
  std::vector<Item*> held_;
  std::vector<std::unique_ptr<Item>> items_;
};

TEST_CASE("ready queue: beside a set") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Driver(seed).run(seed % 10 == 0 ? 60'000 : 3'000);
  }
}

}  // namespace
}  // namespace xylem
