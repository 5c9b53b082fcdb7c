// The index beside a std::map: it finds and walks the same ids, whatever their spread. And what it
// may cost, by its own count of bytes.
#include "xylem/core/id_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace xylem {
namespace {

struct Item {
  JobId id;
};

constexpr JobId kGreatest = std::numeric_limits<JobId>::max();

std::vector<JobId> walk(const IdIndex<Item>& index) {
  std::vector<JobId> ids;
  for (const Item* item = index.at_or_after(1); item != nullptr;) {
    ids.push_back(item->id);
    item = item->id == kGreatest ? nullptr : index.at_or_after(item->id + 1);
  }
  return ids;
}

TEST_CASE("id index: empty") {
  const IdIndex<Item> index;
  CHECK(index.size() == 0);
  CHECK(index.find(1) == nullptr);
  CHECK(index.at_or_after(0) == nullptr);
  CHECK(index.at_or_after(kGreatest) == nullptr);
  CHECK(index.bytes_in_use() == 0);
}

TEST_CASE("id index: finds and walks ids of any size") {
  std::vector<Item> items;
  for (unsigned bit = 0; bit < 64; ++bit) items.push_back({JobId{1} << bit});
  items.push_back({kGreatest});
  IdIndex<Item> index;
  std::vector<JobId> ids;
  for (Item& item : items) {
    index.insert(item.id, item);
    ids.push_back(item.id);
    index.check();
  }
  CHECK(walk(index) == ids);
  for (Item& item : items) {
    CHECK(index.find(item.id) == &item);
    CHECK(index.find(item.id ^ 32'768 ^ 7) == nullptr);
  }
  for (Item& item : items) {
    index.erase(item.id);
    CHECK(index.find(item.id) == nullptr);
    index.check();
  }
  CHECK(index.at_or_after(1) == nullptr);
}

TEST_CASE("id index: the first at or after an id") {
  Item five{5}, seventy{70}, far{1'000'000};
  IdIndex<Item> index;
  for (Item* item : {&seventy, &far, &five}) index.insert(item->id, *item);
  CHECK(index.at_or_after(0) == &five);
  CHECK(index.at_or_after(5) == &five);
  CHECK(index.at_or_after(6) == &seventy);
  CHECK(index.at_or_after(71) == &far);
  CHECK(index.at_or_after(1'000'000) == &far);
  CHECK(index.at_or_after(1'000'001) == nullptr);
  CHECK(index.at_or_after(kGreatest) == nullptr);
}

TEST_CASE("id index: looks past the page of the last insert when it is empty") {
  Item low{3}, last{130}, high{200};
  IdIndex<Item> index;
  for (Item* item : {&low, &high, &last}) index.insert(item->id, *item);
  index.erase(last.id);
  index.check();
  CHECK(index.at_or_after(4) == &high);
  CHECK(index.find(130) == nullptr);
  index.insert(130, last);
  CHECK(index.at_or_after(4) == &last);
}

TEST_CASE("id index: dense ids cost at most 8.5 bytes each") {
  constexpr std::size_t kCount = 1'000'000;
  Item item{1};
  IdIndex<Item> index;
  for (JobId id = 1; id <= kCount; ++id) index.insert(id, item);
  index.check();
  CHECK(index.size() == kCount);
  CHECK(index.bytes_in_use() <= kCount * 17 / 2);

  SUBCASE("one survivor in each page costs at most 100 bytes") {
    for (JobId id = 1; id <= kCount; ++id) {
      if (id % 64 != 9) index.erase(id);
    }
    index.check();
    CHECK(index.bytes_in_use() <= index.size() * 100);
  }
  SUBCASE("ids far apart cost at most a narrow page for each level and id") {
    for (JobId id = 1; id <= kCount; ++id) {
      if (id % 100'000 != 9) index.erase(id);
    }
    index.check();
    CHECK(index.size() == 10);
    CHECK(index.bytes_in_use() <= index.size() * 4 * 80);
  }
  SUBCASE("none left costs at most the page of the last insert") {
    for (JobId id = kCount; id >= 1; --id) index.erase(id);
    index.check();
    CHECK(index.bytes_in_use() <= 528 + 3 * 80);
    index.insert(kCount * 100, item);
    CHECK(index.bytes_in_use() == 5 * 80);
  }
}

TEST_CASE("id index: a short queue keeps to its page") {
  Item item{1};
  IdIndex<Item> index;
  for (JobId id = 1; id <= 10'000; ++id) {
    index.insert(id, item);
    REQUIRE(index.bytes_in_use() <= 3 * 80);
    index.erase(id);
  }
  CHECK(index.size() == 0);
}

// Random calls to the index and a map. A run has its own mix, spread of ids and length.
class Driver {
 public:
  explicit Driver(std::uint32_t seed) : random_(seed) {
    for (std::uint32_t& weight : weights_) weight = below(10);
    weights_[0] += 1;
    step_ = JobId{1} << below(14);
    far_ = below(2) == 0;
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      REQUIRE(index_.size() == twin_.size());
      if (i % 64 == 0) index_.check();
    }
    index_.check();
    auto expected = twin_.begin();
    for (const JobId id : walk(index_)) REQUIRE(id == (expected++)->first);
    REQUIRE(expected == twin_.end());
  }

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void step() {
    switch (pick()) {
      case 0:
        return insert(last_ + 1 + below(step_));
      case 1:
        return insert(random_id());
      case 2:
        return erase(twin_.begin());
      case 3:
        return erase(twin_.lower_bound(random_id()));
      case 4:
        return erase(twin_.empty() ? twin_.end() : std::prev(twin_.end()));
      case 5:
        return find(random_id());
      default:
        return at_or_after(random_id());
    }
  }

  std::size_t pick() {
    std::discrete_distribution<std::size_t> which(weights_.begin(), weights_.end());
    return which(random_);
  }

  JobId random_id() {
    if (far_ && below(50) == 0) return std::uniform_int_distribution<JobId>(1)(random_);
    return std::uniform_int_distribution<JobId>(1, last_ + 1)(random_);
  }

  void insert(JobId id) {
    const auto [entry, is_new] = twin_.try_emplace(id, Item{id});
    if (!is_new) return;
    index_.insert(id, entry->second);
    if (id < JobId{1} << 40) last_ = std::max(last_, id);
  }
  void erase(std::map<JobId, Item>::iterator victim) {
    if (victim == twin_.end()) return;
    index_.erase(victim->first);
    twin_.erase(victim);
  }
  void find(JobId id) {
    const auto expected = twin_.find(id);
    REQUIRE(index_.find(id) == (expected == twin_.end() ? nullptr : &expected->second));
  }
  void at_or_after(JobId id) {
    const auto expected = twin_.lower_bound(id);
    REQUIRE(index_.at_or_after(id) == (expected == twin_.end() ? nullptr : &expected->second));
  }

  std::minstd_rand random_;
  std::array<std::uint32_t, 7> weights_{};
  JobId step_ = 1;
  bool far_ = false;
  JobId last_ = 0;
  IdIndex<Item> index_;
  std::map<JobId, Item> twin_;
};

TEST_CASE("id index: beside a map") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Driver(seed).run(3'000);
  }
}

}  // namespace
}  // namespace xylem
