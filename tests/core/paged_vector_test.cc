// The paged vector beside std::vector, and what it promises of memory: nothing before the first
// push, one spare page, and no copy of a whole.
#include "xylem/core/paged_vector.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace xylem {
namespace {

using Numbers = PagedVector<std::uint64_t>;
constexpr std::uint32_t kPage = Numbers::kPageSize;

void fill(Numbers& numbers, std::uint32_t size) {
  while (numbers.size() < size) numbers.push_back(numbers.size());
}

void drain(Numbers& numbers, std::uint32_t size) {
  while (numbers.size() > size) numbers.pop_back();
}

TEST_CASE("paged vector: is small and holds no memory before its first element") {
  static_assert(sizeof(Numbers) <= 32);
  const Numbers numbers;
  CHECK(numbers.empty());
  CHECK(numbers.capacity() == 0);
}

TEST_CASE("paged vector: pages hold about 4 KiB, a power of two of elements") {
  struct Key {
    std::uint64_t words[3];
  };
  CHECK(kPage == 512);
  CHECK(PagedVector<Key>::kPageSize == 128);
  CHECK(PagedVector<char>::kPageSize == 4'096);
}

TEST_CASE("paged vector: the first page doubles, then whole pages come and the elements stay put") {
  Numbers numbers;
  fill(numbers, 1);
  CHECK(numbers.capacity() == 2);
  fill(numbers, 3);
  CHECK(numbers.capacity() == 4);
  fill(numbers, kPage);
  CHECK(numbers.capacity() == kPage);
  const std::uint64_t* first = &numbers[0];
  fill(numbers, 100 * kPage);
  CHECK(numbers.capacity() == 100 * kPage);
  CHECK(first == &numbers[0]);
}

TEST_CASE("paged vector: empty pages go, but for one spare") {
  Numbers numbers;
  fill(numbers, 10 * kPage + 1);
  drain(numbers, 10 * kPage);
  CHECK(numbers.capacity() == 11 * kPage);
  drain(numbers, 9 * kPage + 1);
  CHECK(numbers.capacity() == 11 * kPage);
  drain(numbers, 9 * kPage);
  CHECK(numbers.capacity() == 10 * kPage);
  drain(numbers, 0);
  CHECK(numbers.capacity() == 8);
}

TEST_CASE("paged vector: does as std::vector does, whatever the sizes it passes") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    Numbers numbers;
    std::vector<std::uint64_t> twin;
    for (int phase = 0; phase < 30; ++phase) {
      const std::uint64_t goal = random() % (random() % 2 == 0 ? 20 : 8 * kPage);
      while (twin.size() < goal) {
        twin.push_back(random());
        numbers.push_back(twin.back());
      }
      while (twin.size() > goal) {
        REQUIRE(numbers.back() == twin.back());
        twin.pop_back();
        numbers.pop_back();
      }
      REQUIRE(numbers.size() == twin.size());
      REQUIRE(numbers.capacity() <= twin.size() + 2 * kPage);
      for (std::uint32_t i = 0; i < twin.size(); ++i) REQUIRE(numbers[i] == twin[i]);
    }
  }
}

}  // namespace
}  // namespace xylem
