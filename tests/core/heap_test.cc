// The heap beside an ordered set: the first is the first, and each element knows its place,
// whatever was pushed, taken off, moved or taken out of the middle before.
#include "xylem/core/heap.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace xylem {
namespace {

struct Item {
  std::uint64_t id = 0;
  std::uint32_t position = 0;
};

int moves = 0;

struct Key {
  std::uint32_t pri;
  Item* item;

  bool before(const Key& other) const {
    return std::tie(pri, item->id) < std::tie(other.pri, other.item->id);
  }
  bool operator<(const Key& other) const { return before(other); }
  void moved_to(std::uint32_t position) const {
    item->position = position;
    ++moves;
  }
};

TEST_CASE("heap: hands out by priority, then id") {
  Item a{.id = 1}, b{.id = 2}, c{.id = 3};
  Heap<Key> heap;
  heap.push({.pri = 5, .item = &c});
  heap.push({.pri = 7, .item = &a});
  heap.push({.pri = 5, .item = &b});
  CHECK(heap.top().item == &b);
  heap.pop();
  CHECK(heap.top().item == &c);
  heap.pop();
  CHECK(heap.top().item == &a);
  heap.pop();
  CHECK(heap.empty());
}

TEST_CASE("heap: an element is erased or given a new key where it says that it stands") {
  Item a{.id = 1}, b{.id = 2}, c{.id = 3};
  Heap<Key> heap;
  for (Item* item : {&a, &b, &c}) heap.push({.pri = 5, .item = item});
  heap.erase(b.position);
  heap.replaced(c.position, {.pri = 1, .item = &c});
  CHECK(heap.top().item == &c);
  heap.replaced(c.position, {.pri = 9, .item = &c});
  CHECK(heap.top().item == &a);
  CHECK(heap.at(c.position).pri == 9);
}

TEST_CASE("heap: what is pushed in order is moved once") {
  std::vector<Item> items(10'000);
  Heap<Key> heap;
  moves = 0;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    items[i].id = i;
    heap.push({.pri = 5, .item = &items[i]});
  }
  CHECK(moves == 10'000);
}

// One step on both: a push, a pop, an erase or a new key.
void step(Heap<Key>& heap, std::set<Key>& twin, Item& item, std::mt19937_64& random,
          std::uint32_t priorities) {
  const Key key{.pri = static_cast<std::uint32_t>(random() % priorities), .item = &item};
  const bool inside = item.position < heap.size() && heap.at(item.position).item == &item;
  if (!inside) {
    heap.push(key);
    twin.insert(key);
  } else if (random() % 3 == 0) {
    twin.erase(heap.at(item.position));
    heap.replaced(item.position, key);
    twin.insert(key);
  } else if (random() % 2 == 0) {
    twin.erase(heap.at(item.position));
    heap.erase(item.position);
  } else {
    twin.erase(twin.begin());
    heap.pop();
  }
}

TEST_CASE("heap: does as an ordered set does") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::vector<Item> items(1 + random() % 600);
    for (std::uint32_t i = 0; i < items.size(); ++i) items[i].id = i;
    const auto priorities = static_cast<std::uint32_t>(1 + random() % (seed % 2 == 0 ? 4 : 4'000));
    Heap<Key> heap;
    std::set<Key> twin;
    for (int i = 0; i < 2'000; ++i) {
      step(heap, twin, items[random() % items.size()], random, priorities);
      REQUIRE(heap.size() == twin.size());
      if (!twin.empty()) REQUIRE(heap.top().item == twin.begin()->item);
    }
    heap.check();
    for (const Key& key : twin) REQUIRE(heap.at(key.item->position).item == key.item);
  }
}

}  // namespace
}  // namespace xylem
