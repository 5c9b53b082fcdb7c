// The slab beside a map of what is out: objects never overlap, keep their bytes, and their memory
// goes back to the system.
#include "xylem/core/slab.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace xylem {
namespace {

constexpr std::size_t kMost = Slab::kMostBytes;

struct Object {
  unsigned char* memory;
  std::size_t bytes;
};

TEST_CASE("slab: a size is rounded up by at most 7 bytes, or an eighth") {
  std::size_t last = 0;
  for (std::size_t bytes = 1; bytes <= kMost; ++bytes) {
    CAPTURE(bytes);
    const std::size_t rounded = Slab::rounded(bytes);
    REQUIRE(rounded >= bytes);
    REQUIRE(rounded % Slab::kAlignment == 0);
    REQUIRE((rounded - bytes <= 7 || (bytes > 1'024 && (rounded - bytes) * 8 <= rounded)));
    REQUIRE(rounded >= last);
    REQUIRE(Slab::rounded(rounded) == rounded);
    last = rounded;
  }
  CHECK(Slab::rounded(1) == 8);
  CHECK(Slab::rounded(104) == 104);
  CHECK(Slab::rounded(105) == 112);
  CHECK(Slab::rounded(1'024) == 1'024);
  CHECK(Slab::rounded(1'025) == 1'152);
  CHECK(Slab::rounded(kMost) == kMost);
}

TEST_CASE("slab: holds nothing until it is asked") {
  Slab slab;
  CHECK(slab.bytes_held() == 0);
  void* object = slab.allocate(100);
  CHECK(slab.bytes_held() == Slab::kBlockBytes);
  CHECK(slab.bytes_in_use() == 104);
  slab.release(object, 100);
  CHECK(slab.bytes_in_use() == 0);
}

TEST_CASE("slab: a block holds as many as fit, of each class") {
  for (std::size_t bytes = 1; bytes <= kMost; bytes += bytes < 1'024 ? 8 : 128) {
    CAPTURE(bytes);
    Slab slab;
    std::vector<void*> objects;
    while (slab.bytes_held() <= Slab::kBlockBytes) objects.push_back(slab.allocate(bytes));
    const std::size_t of_one_block = (objects.size() - 1) * Slab::rounded(bytes);
    CHECK(of_one_block <= Slab::kBlockBytes);
    CHECK(of_one_block + Slab::rounded(bytes) + 64 > Slab::kBlockBytes);
    for (void* object : objects) slab.release(object, bytes);
  }
}

TEST_CASE("slab: a short queue and a long one in motion ask for no new blocks") {
  for (const std::size_t length : {1U, 5'000U, 20'000U}) {
    CAPTURE(length);
    Slab slab;
    std::vector<void*> queue(length);
    for (void*& object : queue) object = slab.allocate(104);
    const std::size_t held = slab.bytes_held();
    std::size_t most = held;
    for (std::size_t i = 0; i < 10 * length; ++i) {
      slab.release(queue[i % length], 104);
      queue[i % length] = slab.allocate(104);
      most = std::max(most, slab.bytes_held());
    }
    CHECK(most <= held + Slab::kBlockBytes);
    for (void* object : queue) slab.release(object, 104);
  }
}

constexpr std::size_t kKept = Slab::kKeptBlocks * Slab::kBlockBytes;

TEST_CASE("slab: a few blocks are kept when everything is gone, for any class") {
  Slab slab;
  std::vector<Object> objects;
  std::minstd_rand random(1);
  for (int i = 0; i < 60'000; ++i) {
    const std::size_t bytes = i % 2 == 0 ? 104 : 1'000;
    objects.push_back({static_cast<unsigned char*>(slab.allocate(bytes)), bytes});
  }
  const std::size_t peak = slab.bytes_held();
  CHECK(peak < slab.bytes_in_use() + slab.bytes_in_use() / 50);
  std::shuffle(objects.begin(), objects.end(), random);
  for (const Object& each : objects) slab.release(each.memory, each.bytes);
  CHECK(slab.bytes_in_use() == 0);
  CHECK(slab.bytes_held() == kKept);
  void* other = slab.allocate(50);
  CHECK(slab.bytes_held() == kKept);
  slab.release(other, 50);
}

TEST_CASE("slab: a few survivors keep only their blocks") {
  Slab slab;
  std::vector<void*> objects(100'000);
  for (void*& object : objects) object = slab.allocate(104);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (i % 20'000 != 0) slab.release(objects[i], 104);
  }
  CHECK(slab.bytes_in_use() == 5 * 104);
  CHECK(slab.bytes_held() <= 5 * Slab::kBlockBytes + kKept);
  // and their room is used before new blocks are asked for
  for (int i = 0; i < 10'000; ++i) objects.push_back(slab.allocate(104));
  CHECK(slab.bytes_held() <= 5 * Slab::kBlockBytes + kKept);
}

TEST_CASE("slab: a queue that shrinks while it moves gives its memory back") {
  Slab slab;
  std::deque<void*> queue;
  for (int i = 0; i < 200'000; ++i) queue.push_back(slab.allocate(104));
  while (queue.size() > 20'000) {
    for (int i = 0; i < 2; ++i) {
      slab.release(queue.front(), 104);
      queue.pop_front();
    }
    queue.push_back(slab.allocate(104));
  }
  CHECK(slab.bytes_held() <= slab.bytes_in_use() + 3 * Slab::kBlockBytes + kKept);
}

TEST_CASE("slab: memory is prepared before it is given out, some pages at once") {
  static std::vector<std::pair<char*, std::size_t>> prepared;
  prepared.clear();
  Slab slab([](void* start, std::size_t bytes) {
    prepared.emplace_back(static_cast<char*>(start), bytes);
  });
  for (int i = 0; i < 10'000; ++i) {
    char* object = static_cast<char*>(slab.allocate(1'000));
    const auto covers = [&](const char* byte) {
      return std::any_of(prepared.begin(), prepared.end(), [&](const auto& range) {
        return byte >= range.first && byte < range.first + range.second;
      });
    };
    REQUIRE(covers(object));
    REQUIRE(covers(object + 999));
  }
  CHECK(prepared.size() * Slab::kPrepareBytes <= slab.bytes_held());
}

TEST_CASE("slab: its end takes what is still out") {
  Slab slab;
  for (std::size_t bytes = 1; bytes <= kMost; ++bytes) std::memset(slab.allocate(bytes), 1, bytes);
}

// Random calls; every object is filled with a byte of its own, and the twin knows where each
// begins.
class Driver {
 public:
  explicit Driver(std::uint32_t seed) : random_(seed) {
    allocate_weight_ = 20 + below(60);  // of 100
    sizes_ = 1 + below(6);
    longest_ = below(2) == 0 ? kMost : 200;
    most_ = 1 + below(3'000);
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (below(400) == 0) allocate_weight_ = 20 + below(60);
      const bool wanted = below(100) < allocate_weight_ && out_.size() < most_;
      wanted || out_.empty() ? allocate() : release();
      REQUIRE(slab_.bytes_in_use() == in_use_);
      REQUIRE(slab_.bytes_held() >= in_use_);
    }
    while (!out_.empty()) release();
    REQUIRE(slab_.bytes_held() <= Slab::kKeptBlocks * Slab::kBlockBytes);
  }

 private:
  std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void allocate() {
    const std::size_t bytes = 1 + below(sizes_) * 7'919 % longest_;
    auto* memory = static_cast<unsigned char*>(slab_.allocate(bytes));
    const auto start = reinterpret_cast<std::uintptr_t>(memory);
    REQUIRE(start % Slab::kAlignment == 0);
    const auto after = out_.lower_bound(start);
    if (after != out_.end()) REQUIRE(start + bytes <= after->first);
    if (after != out_.begin()) {
      const auto before = std::prev(after);
      REQUIRE(before->first + before->second <= start);
    }
    std::memset(memory, fill_of(start), bytes);
    out_.emplace(start, bytes);
    in_use_ += Slab::rounded(bytes);
  }

  void release() {
    auto victim = out_.lower_bound(out_.begin()->first + below(2'000'000));
    if (victim == out_.end()) victim = out_.begin();
    const std::uintptr_t start = victim->first;
    const std::size_t bytes = victim->second;
    auto* memory = reinterpret_cast<unsigned char*>(start);
    const bool kept = std::all_of(memory, memory + bytes,
                                  [&](unsigned char byte) { return byte == fill_of(start); });
    REQUIRE(kept);
    out_.erase(victim);
    slab_.release(memory, bytes);
    in_use_ -= Slab::rounded(bytes);
  }

  static unsigned char fill_of(std::uintptr_t start) {
    return static_cast<unsigned char>(start / 8 * 167);
  }

  std::minstd_rand random_;
  std::uint32_t allocate_weight_ = 0;
  std::size_t sizes_ = 0;
  std::size_t longest_ = 0;
  std::size_t most_ = 0;
  Slab slab_;
  std::map<std::uintptr_t, std::size_t> out_;
  std::size_t in_use_ = 0;
};

TEST_CASE("slab: beside a map") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Driver(seed).run(2'000);
  }
}

}  // namespace
}  // namespace xylem
