// Heap: a d-ary heap whose keys stand in the heap itself, in a PagedVector. Looking for the first
// does not touch the elements; only an entry that changes its place writes it into its element, so
// that the element can be erased from where it stands.
//
// An Entry is a small trivially copyable value with
//   bool before(const Entry&) const;                  a strict total order
//   void moved_to(std::uint32_t position) const;      keep this in the element; it is the place now
//
// The entries beside the one that moves are not swapped: a hole goes up or down, and the entry is
// put into it at the end. Four children a node, as measured with random entries of 24 bytes: a push
// and its pop take 67 ns at a thousand entries (60 with 2 children, 86 with 8); from a million on,
// where the cache misses decide, 4, 8 and 16 are alike and 2 takes nearly twice as long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "xylem/check.h"
#include "xylem/core/paged_vector.h"

namespace xylem {

template <class Entry, std::uint32_t kArity = 4>
class Heap {
 public:
  [[nodiscard]] std::uint32_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  // The first by before(). Must not be empty.
  [[nodiscard]] const Entry& top() const { return entries_[0]; }
  // The position must be below size(). Positions say nothing of the order, except that 0 is the
  // first.
  [[nodiscard]] const Entry& at(std::uint32_t position) const { return entries_[position]; }

  // O(log n); O(1) if it is not before the others.
  void push(Entry entry) {
    entries_.push_back(entry);
    sift_up(entries_.size() - 1, entry);
  }

  // Must not be empty. O(log n).
  void pop() { erase(0); }

  // The position must be below size(). The element erased is not told. O(log n).
  void erase(std::uint32_t position) {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (position < entries_.size()) replaced(position, last);
  }

  // Puts an entry, of whatever key, in the place of the one that stands there. O(log n).
  void replaced(std::uint32_t position, Entry entry) {
    if (position > 0 && entry.before(entries_[parent(position)])) {
      sift_up(position, entry);
    } else {
      sift_down(position, entry);
    }
  }

  // Recomputes the order. O(n); for tests.
  void check() const {
    for (std::uint32_t i = 1; i < size(); ++i) CHECK(!entries_[i].before(entries_[parent(i)]));
  }

 private:
  static std::uint32_t parent(std::uint32_t position) { return (position - 1) / kArity; }

  void place(std::uint32_t position, const Entry& entry) {
    entries_[position] = entry;
    entry.moved_to(position);
  }

  void sift_up(std::uint32_t hole, const Entry& entry) {
    while (hole > 0 && entry.before(entries_[parent(hole)])) {
      place(hole, entries_[parent(hole)]);
      hole = parent(hole);
    }
    place(hole, entry);
  }

  void sift_down(std::uint32_t hole, const Entry& entry) {
    while (hole < first_leaf()) {
      const std::uint32_t child = first_child(hole);
      if (!entries_[child].before(entry)) break;
      place(hole, entries_[child]);
      hole = child;
    }
    place(hole, entry);
  }

  // The first position without children.
  [[nodiscard]] std::uint32_t first_leaf() const { return (size() + kArity - 2) / kArity; }

  // Of the children at `position`, of which there must be one, the first by before().
  [[nodiscard]] std::uint32_t first_child(std::uint32_t position) const {
    std::uint32_t best = position * kArity + 1;
    const std::uint32_t end = std::min(best + kArity, size());
    for (std::uint32_t child = best + 1; child < end; ++child) {
      if (entries_[child].before(entries_[best])) best = child;
    }
    return best;
  }

  PagedVector<Entry> entries_;
};

}  // namespace xylem
