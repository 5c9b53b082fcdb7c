// See slab.h. The two hot paths are allocate() and release(); a block moves between lists only when
// it fills, gets room again or empties.
#include "xylem/core/slab.h"

#include <cstdlib>
#include <new>

#include "xylem/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define XYLEM_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XYLEM_POISON 1
#endif
#endif

#ifdef XYLEM_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace xylem {
namespace {

void poison([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) {
#ifdef XYLEM_POISON
  __asan_poison_memory_region(start, bytes);
#endif
}

void unpoison([[maybe_unused]] void* start, [[maybe_unused]] std::size_t bytes) {
#ifdef XYLEM_POISON
  __asan_unpoison_memory_region(start, bytes);
#endif
}

char* at(void* block, std::size_t offset) { return static_cast<char*>(block) + offset; }

}  // namespace

Slab::~Slab() {
  destroy_all(full_);
  destroy_all(empty_);
  for (Blocks& blocks : with_room_) destroy_all(blocks);
}

void* Slab::allocate(std::size_t bytes) {
  static_assert(class_of(kMostBytes) + 1 == kClassCount);
  CHECK(bytes > 0 && bytes <= kMostBytes);
  const std::size_t number = class_of(bytes);
  Blocks& with_room = with_room_[number];
  Block& block = block_with_room(with_room, size_of_class(number));
  void* object = take(block);
  if (block.full()) {
    with_room.erase(block);
    full_.push_back(block);
  }
  bytes_in_use_ += block.object_bytes;
  unpoison(object, bytes);
  return object;
}

void Slab::release(void* object, std::size_t bytes) {
  CHECK(bytes > 0 && bytes <= kMostBytes);
  const std::size_t number = class_of(bytes);
  Blocks& with_room = with_room_[number];
  Block& block = block_of(object);
  CHECK(block.object_bytes == size_of_class(number) && block.used_count > 0);
  if (block.full()) {
    full_.erase(block);
    with_room.push_back(block);
  }
  unpoison(object, block.object_bytes);
  block.free = new (object) Free{block.free};
  poison(object, block.object_bytes);
  bytes_in_use_ -= block.object_bytes;
  if (--block.used_count == 0) emptied(with_room, block);
}

bool Slab::Block::full() const { return free == nullptr && fresh + object_bytes > kBlockBytes; }

Slab::Block& Slab::block_of(void* object) {
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  return *reinterpret_cast<Block*>(address & ~(std::uintptr_t{kBlockBytes} - 1));
}

// The block must not be full. The object is still poisoned.
void* Slab::take(Block& block) {
  ++block.used_count;
  if (block.free != nullptr) {
    Free* object = block.free;
    unpoison(object, sizeof(Free));
    block.free = object->next;
    poison(object, sizeof(Free));
    return object;
  }
  void* object = at(&block, block.fresh);
  block.fresh += block.object_bytes;
  if (prepare_ != nullptr && block.fresh > block.prepared) {
    prepare_(at(&block, block.prepared), kPrepareBytes);
    block.prepared += kPrepareBytes;
  }
  return object;
}

void Slab::reset(Block& block) {
  block.free = nullptr;
  block.fresh = sizeof(Block);
}

Slab::Block& Slab::block_with_room(Blocks& with_room, std::size_t object_bytes) {
  if (Block* front = with_room.front(); front != nullptr) return *front;
  Block* kept = empty_.pop_front();
  if (kept != nullptr) --empty_count_;
  Block& block = kept != nullptr ? *kept : make_block();
  block.object_bytes = static_cast<std::uint32_t>(object_bytes);
  with_room.push_back(block);
  return block;
}

Slab::Block& Slab::make_block() {
  void* memory = std::aligned_alloc(kBlockBytes, kBlockBytes);
  CHECK(memory != nullptr);
  bytes_held_ += kBlockBytes;
  Block& block = *new (memory) Block;
  reset(block);
  poison(at(&block, sizeof(Block)), kBlockBytes - sizeof(Block));
  return block;
}

void Slab::destroy(Block& block) {
  unpoison(at(&block, sizeof(Block)), kBlockBytes - sizeof(Block));
  bytes_held_ -= kBlockBytes;
  std::free(&block);
}

void Slab::destroy_all(Blocks& blocks) {
  while (Block* block = blocks.pop_front()) destroy(*block);
}

// A block just became empty; it is among those with room. The one kept last is taken first: its
// pages are the warmest.
void Slab::emptied(Blocks& with_room, Block& block) {
  with_room.erase(block);
  if (empty_count_ == kKeptBlocks) return destroy(block);
  reset(block);
  empty_.push_front(block);
  ++empty_count_;
}

}  // namespace xylem
