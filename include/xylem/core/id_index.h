// IdIndex: from a JobId to its T, in order of ids. A radix tree of pages with 64 places each:
//
//     level 1     [ .  1  2  . ... ]            six bits of the id a level; as many levels as the
//                      |  |                     greatest id needs
//     level 0   [ 64 65 67 ]  [ 128 ... 191 ]   places hold T*
//               narrow page      wide page
//
// A wide page has a slot for each place. A page with few entries is narrow: it has eight slots,
// packed in order. Dense ids cost 8.4 bytes each; one id alone in its page costs 90, however many
// pages have gone around it. A page that empties goes at once, except the page of the last insert:
// ids rise, so the next put most likely wants it, and finds it without walking down. No page ever
// moves because another one grows, so no call takes long.
//
// All calls are O(levels), which is 4 for the first 16 million ids and 11 at most.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "xylem/core/ids.h"
#include "xylem/core/slab.h"

namespace xylem {

// IdIndex without the type.
class IdTree {
 public:
  explicit IdTree(PrepareMemory prepare) : slab_(prepare) {}
  IdTree(const IdTree&) = delete;
  IdTree& operator=(const IdTree&) = delete;

  // The id must not be there, and the value not be null.
  void insert(JobId id, void* value);
  [[nodiscard]] void* find(JobId id) const;  // null if not there
  void erase(JobId id);                      // must be there
  // The value of the first id that is not below `id`; null if there is none.
  [[nodiscard]] void* at_or_after(JobId id) const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes_in_use() const { return slab_.bytes_in_use(); }

  // Recomputes every invariant. O(pages).
  void check() const;

 private:
  // Its slots follow it: children, or on level 0 values.
  struct Page {
    std::uint64_t present = 0;  // a bit for each place that is taken
    std::uint32_t count = 0;    // of them
    bool wide = false;

    [[nodiscard]] void** slots() { return reinterpret_cast<void**>(this + 1); }
    [[nodiscard]] void* const* slots() const { return reinterpret_cast<void* const*>(this + 1); }
    [[nodiscard]] bool has(unsigned place) const { return (present >> place & 1) != 0; }
    [[nodiscard]] bool has_room() const { return wide || count < kNarrowSlots; }
    // Whether it should give way to nothing or to a narrow page.
    [[nodiscard]] bool too_big() const { return count == 0 || (wide && count <= kNarrowAgain); }
    // The slot of a place that is taken, or in a narrow page the one that it would get.
    [[nodiscard]] unsigned slot_of(unsigned place) const {
      const std::uint64_t below = (std::uint64_t{1} << place) - 1;
      return wide ? place : static_cast<unsigned>(std::popcount(present & below));
    }
    [[nodiscard]] void* get(unsigned place) const {
      return has(place) ? slots()[slot_of(place)] : nullptr;
    }
    void add(unsigned place, void* value);  // must have room
    void remove(unsigned place);
  };

  static constexpr unsigned kBits = 6;
  static constexpr unsigned kPlaces = 1U << kBits;
  static constexpr unsigned kNarrowSlots = 8;
  static constexpr unsigned kNarrowAgain = 4;  // fewer than kNarrowSlots, so that it does not flap

  static unsigned place_of(JobId id, unsigned level) {
    return static_cast<unsigned>(id >> (kBits * level)) % kPlaces;
  }
  static unsigned levels_for(JobId id);
  static void* first_from(const Page& page, unsigned level, JobId id);

  [[nodiscard]] bool in_last_leaf(JobId id) const {
    return last_leaf_ != nullptr && id >> kBits == last_id_ >> kBits;
  }
  [[nodiscard]] Page* leaf_of(JobId id) const;
  Page* make(bool wide);
  void free(Page* page);
  void grow_for(JobId id);
  void leave_last_leaf();
  Page* with(Page* page, unsigned place, void* value);
  Page* insert_below(Page* page, unsigned level, JobId id, void* value);
  Page* tidy(Page* page);
  Page* tidy_below(Page* page, unsigned level, JobId id);
  void tidy_path(JobId id);
  std::size_t check_below(const Page& page, unsigned level) const;

  Slab slab_;
  Page* root_ = nullptr;
  unsigned levels_ = 0;
  Page* last_leaf_ =
      nullptr;  // of the last insert; the only page that may be empty, or wide with few
  JobId last_id_ = 0;
  std::size_t size_ = 0;
};

template <class T>
class IdIndex {
 public:
  explicit IdIndex(PrepareMemory prepare = nullptr) : tree_(prepare) {}

  // Must not be there. `value` must stay where it is until it is erased.
  void insert(JobId id, T& value) { tree_.insert(id, &value); }
  // Null if not there.
  [[nodiscard]] T* find(JobId id) const { return static_cast<T*>(tree_.find(id)); }
  // Must be there.
  void erase(JobId id) { tree_.erase(id); }
  // The first by id that is not below `id`; null if there is none.
  [[nodiscard]] T* at_or_after(JobId id) const { return static_cast<T*>(tree_.at_or_after(id)); }

  [[nodiscard]] std::size_t size() const { return tree_.size(); }
  // What its pages take.
  [[nodiscard]] std::size_t bytes_in_use() const { return tree_.bytes_in_use(); }
  void check() const { tree_.check(); }

 private:
  IdTree tree_;
};

}  // namespace xylem
