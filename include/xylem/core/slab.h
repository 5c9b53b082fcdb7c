// Slab: memory for jobs, by size, that goes back to the system when jobs go.
//
// Sizes are rounded up to a class: steps of 8 bytes up to 1 KiB, then eight steps to each doubling,
// so that at most an eighth is wasted. A class cuts its objects from blocks of 256 KiB:
//
//     | Block: links, free, fresh ... | object | object | object |      never used yet      |
//     ^ aligned to 256 KiB                        |                ^ fresh
//                                      free ------+--> object --> null
//
// An object carries no header: its block is found by masking its address. The never-used part is
// cut only when nothing freed is left in the block, so that fresh pages are touched when they are
// needed.
//
// Objects are cut from the first block with room; a full block that gets room goes to the end of
// that list. So jobs put at about the same time stand together, and go together. A few empty blocks
// are kept for any class to take, so that neither a short queue nor a long one in motion asks the
// system for each block it fills; all others go back at once.
//
// The first touch of a fresh page is a page fault, which can cost more than all the rest of a put.
// So the shell may hand in a function that prepares memory: it is called for some pages at once,
// just before their first is needed.
//
// Every call is O(1). Under AddressSanitizer what is not in use is poisoned.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "xylem/core/limits.h"
#include "xylem/core/list.h"

namespace xylem {

// Makes `bytes` of fresh memory at `start` ready to be written to. Both are multiples of 4 KiB.
using PrepareMemory = void (*)(void* start, std::size_t bytes);

class Slab {
 public:
  static constexpr std::size_t kBlockBytes = 262'144;
  static constexpr std::size_t kAlignment = 8;
  // A job with the longest body that stands in its own block, and room to spare.
  static constexpr std::size_t kMostBytes = limits::kInlineBodyBytes + 512;

  // Empty blocks that are kept: 4 MiB.
  static constexpr std::size_t kKeptBlocks = 16;
  // Pages that are prepared at once; what a class may hold in vain.
  static constexpr std::uint32_t kPrepareBytes = 32'768;

  explicit Slab(PrepareMemory prepare = nullptr) : prepare_(prepare) {}
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  // All memory goes back, and what still stands in it is gone without destructors.
  ~Slab();

  // Room for `bytes` (1 to kMostBytes), aligned to kAlignment. Never null.
  [[nodiscard]] void* allocate(std::size_t bytes);
  // What allocate(bytes), with the same `bytes`, gave.
  void release(void* object, std::size_t bytes);

  // What allocate(bytes) takes.
  [[nodiscard]] static constexpr std::size_t rounded(std::size_t bytes) {
    return size_of_class(class_of(bytes));
  }

  // The sum of what is out, rounded; and the blocks that hold it.
  [[nodiscard]] std::size_t bytes_in_use() const { return bytes_in_use_; }
  [[nodiscard]] std::size_t bytes_held() const { return bytes_held_; }

 private:
  struct Free {
    Free* next;
  };

  struct Block {
    Links<Block> links{};
    Free* free = nullptr;
    std::uint32_t object_bytes = 0;
    std::uint32_t fresh = 0;     // offset of the never-used part
    std::uint32_t prepared = 0;  // offset of what is not prepared
    std::uint32_t used_count = 0;

    [[nodiscard]] bool full() const;
  };
  using Blocks = List<Block, &Block::links>;

  static constexpr std::size_t kSmallBytes = 1'024;  // up to here classes are 8 bytes apart
  static constexpr std::size_t kSmallCount = kSmallBytes / kAlignment;
  static constexpr std::size_t kClassCount = kSmallCount + 8 + 8 + 1;

  static constexpr std::size_t class_of(std::size_t bytes) {
    if (bytes <= kSmallBytes) return (bytes - 1) / kAlignment;
    const auto doubling = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 10, 11, ...
    const std::size_t eighth = (bytes - 1) >> (doubling - 3);                       // 8 to 15
    return kSmallCount + (doubling - 10) * 8 + (eighth - 8);
  }
  static constexpr std::size_t size_of_class(std::size_t number) {
    if (number < kSmallCount) return (number + 1) * kAlignment;
    const std::size_t beyond = number - kSmallCount;
    return (9 + beyond % 8) << (7 + beyond / 8);
  }

  static Block& block_of(void* object);
  void* take(Block& block);
  static void reset(Block& block);
  Block& block_with_room(Blocks& with_room, std::size_t object_bytes);
  Block& make_block();
  void destroy(Block& block);
  void destroy_all(Blocks& blocks);
  void emptied(Blocks& with_room, Block& block);

  PrepareMemory prepare_;
  std::array<Blocks, kClassCount> with_room_{};  // of each class
  Blocks full_;                                  // of all classes
  Blocks empty_;                                 // at most kKeptBlocks
  std::size_t empty_count_ = 0;
  std::size_t bytes_in_use_ = 0;
  std::size_t bytes_held_ = 0;
};

}  // namespace xylem
