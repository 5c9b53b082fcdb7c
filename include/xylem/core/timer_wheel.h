// TimerWheel: a hierarchical timer wheel that orders elements by deadline and owns none of them.
// Schedule and cancel are O(1); the first element is known exactly, by deadline and then by
// whatever T wants, without ever sorting the rest.
//
// A deadline is a number of ticks, read as eight digits of 6 bits. An element stands at the level
// of the highest digit in which its deadline differs from base(), in the slot of that digit:
//
//   level   one slot is   the level spans
//     7     14 years      892 years         [.|.|.|.|.|.| ... |.]   64 slots, a bit for each
//     6     80 days       14 years                                  that is occupied
//     5     1.2 days      80 days
//     4     28 minutes    1.2 days          base   0 0 0 0 3 17 60  5
//     3     26 seconds    28 minutes        a      0 0 0 0 3 17 60 40   level 0, slot 40
//     2     0.4 seconds   26 seconds        b      0 0 0 0 3 18  0  0   level 2, slot 18
//     1     6.4 ms        0.4 seconds       c      0 0 0 2 0  0  0  0   level 4, slot 2
//     0     0.1 ms        6.4 ms            d      0 0 0 0 3 17 60  5   heap
//
// The invariant: what is at or before base() stands in a heap beside the wheel, what is later in
// the slots. So the slots of a level are never used in a circle, all of a lower level is before all
// of a higher one, and the first slot is the lowest bit of the lowest level.
//
// To learn the first element, the first slot is opened: base() becomes the start of that slot, and
// each of its elements goes to its place by the new base, at least one level down, until the heap
// has something. (A slot of level 0 is a single tick: its elements go to the heap, which puts equal
// deadlines in order.) An element goes down at most once a level, so this is O(levels) an element
// in all. A slot with many elements is opened in slices: what was not moved yet waits in the list
// spreading_, and counts as later than what is before base().
//
// A wheel of few elements is only the heap, with base() at the end of time: it needs no levels, so
// that a hundred thousand tubes with a delayed job each cost little.
//
// What may surprise: base() may run ahead of the time (earliest() does that, earliest_due() does
// not). What is then scheduled before it goes to the heap, at O(log n).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "xylem/check.h"
#include "xylem/core/heap.h"
#include "xylem/core/list.h"
#include "xylem/core/time.h"

namespace xylem {

// T has
//   Time deadline_at;              unchanged while T is scheduled, as all that earlier() looks at
//   Links<T> (kLinks);             the wheel's while T is scheduled
//   std::uint32_t heap_position;   the same; may share its memory with the links (a union)
// and bool earlier(const T&, const T&), found beside T: a strict total order, by deadline_at first.
// The wheel forgets its elements when it dies. It is neither copyable nor movable.
// With fewer than kFew elements it is only a heap.
template <class T, Links<T> T::*kLinks, std::uint32_t kFew = 32>
class TimerWheel {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Time base() const { return base_; }

  // The element must not be scheduled, and its deadline within 0 and 2^48 ticks (so not kNever). If
  // nothing stands in the slots, the base goes on to `now`. O(1), O(log n) up to base(). Allocates
  // a level at most, but for the one call that makes few elements many.
  void schedule(T& element, Time now) {
    CHECK(ticks(element.deadline_at) >> (kLevels * kDigitBits) == 0);
    if (size_ == heap_.size()) {
      if (size_ < kFew) {
        base_ = kNever;
      } else if (base_ == kNever) {
        use_slots(now);
      } else {
        base_ = heap_.empty() ? now : std::max(base_, now);
      }
    }
    ++size_;
    place(element);
  }

  // The element must be scheduled here. O(1), O(log n) up to base(). Allocates nothing.
  void cancel(T& element) {
    --size_;
    if (in_heap(element)) {
      heap_.erase(element.heap_position);
    } else {
      unlink(element);
    }
  }

  // The first by earlier(). Moves at most `moves` elements down and takes what it moved off
  // `moves`. Null with moves left: there is none. Null with none left: not known yet; another call
  // goes on.
  [[nodiscard]] T* earliest(std::uint32_t& moves) { return first(kNever, moves); }

  // The same among what is due at or before `now`; rearranges nothing later, and base() does not
  // pass `now`.
  [[nodiscard]] T* earliest_due(Time now, std::uint32_t& moves) { return first(now, moves); }

  // Any element, to empty a wheel cheaply; null if it is empty. O(1).
  [[nodiscard]] T* any() const {
    if (!heap_.empty()) return heap_.top().element;
    if (!spreading_.empty()) return spreading_.front();
    return occupied_levels_ == 0 ? nullptr : first_slot()->front();
  }

  // The first deadline or, if it is not known exactly, the start of its slot: early, never late.
  // kNever if empty. Exact in the heap, at level 0, and for an element alone in its slot. O(1).
  [[nodiscard]] Time next_deadline() const {
    if (!heap_.empty()) return heap_.top().deadline_at;
    if (!spreading_.empty()) return base_;
    if (occupied_levels_ == 0) return kNever;
    const Slot& slot = *first_slot();
    return alone(slot) ? slot.front()->deadline_at : first_slot_start();
  }

  // Calls f(const T&) for each element, in any order.
  template <class F>
  void for_each(F f) const {
    for (std::uint32_t i = 0; i < heap_.size(); ++i) f(std::as_const(*heap_.at(i).element));
    for_each_in(spreading_, f);
    for (std::uint32_t number = 0; number < kLevels; ++number) {
      const Level* level = level_at(number);
      if (level == nullptr) continue;
      for (const Slot& slot : level->slots) for_each_in(slot, f);
    }
  }

  // Recomputes every invariant. O(n); for tests.
  void check() const;

 private:
  static constexpr std::uint32_t kDigitBits = 6;
  static constexpr std::uint32_t kSlots = 1U << kDigitBits;
  static constexpr std::uint32_t kLevels = 8;

  using Slot = List<T, kLinks>;

  struct Level {
    std::uint64_t occupied = 0;  // a bit for each slot that is not empty
    std::array<Slot, kSlots> slots;
  };

  using Levels = std::array<std::unique_ptr<Level>, kLevels>;

  struct Entry {
    Time deadline_at;
    T* element;

    bool before(const Entry& other) const {
      if (deadline_at != other.deadline_at) return deadline_at < other.deadline_at;
      return earlier(*element, *other.element);
    }
    void moved_to(std::uint32_t position) const { element->heap_position = position; }
  };

  static std::uint64_t ticks(Time time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
  }
  static std::uint32_t digit(Time time, std::uint32_t level) {
    return (ticks(time) >> (level * kDigitBits)) % kSlots;
  }
  // The level of a deadline later than the base.
  [[nodiscard]] std::uint32_t level_of(Time deadline_at) const {
    const auto differing = std::bit_width(ticks(deadline_at) ^ ticks(base_)) - 1;
    return static_cast<std::uint32_t>(differing) / kDigitBits;
  }
  // Null if it was never needed.
  [[nodiscard]] Level* level_at(std::uint32_t number) const {
    return levels_ == nullptr ? nullptr : (*levels_)[number].get();
  }
  static bool alone(const Slot& slot) { return slot.front() == slot.back(); }

  [[nodiscard]] std::uint32_t first_level() const {
    return static_cast<std::uint32_t>(std::countr_zero(occupied_levels_));
  }
  [[nodiscard]] std::uint32_t first_digit() const {
    return static_cast<std::uint32_t>(std::countr_zero(level_at(first_level())->occupied));
  }
  [[nodiscard]] Slot* first_slot() const { return &level_at(first_level())->slots[first_digit()]; }

  // The base with its digit at the first level replaced and the lower ones 0.
  [[nodiscard]] Time first_slot_start() const {
    const std::uint32_t shift = first_level() * kDigitBits;
    const std::uint64_t above = ticks(base_) >> shift >> kDigitBits << kDigitBits;
    return Time(Duration(static_cast<Clock::rep>((above | first_digit()) << shift)));
  }

  // Few became many: what is later than `now` goes from the heap to the slots.
  void use_slots(Time now) {
    std::array<T*, kFew> all{};
    for (T*& element : all) {
      element = heap_.top().element;
      heap_.pop();
    }
    base_ = now;
    if (levels_ == nullptr) levels_ = std::make_unique<Levels>();
    for (T* element : all) place(*element);
  }

  // Where the base says that it belongs.
  void place(T& element) {
    if (element.deadline_at <= base_) {
      heap_.push({.deadline_at = element.deadline_at, .element = &element});
      return;
    }
    const std::uint32_t number = level_of(element.deadline_at);
    auto& level = (*levels_)[number];
    if (level == nullptr) level = std::make_unique<Level>();
    const std::uint32_t slot = digit(element.deadline_at, number);
    level->slots[slot].push_back(element);
    level->occupied |= std::uint64_t{1} << slot;
    occupied_levels_ |= 1U << number;
  }

  // At or before the base means in the heap, except that what is just at the base may still wait in
  // spreading_. Then its heap_position may be bytes of its links, so it is copied as bytes: the
  // heap has the element at that position or nowhere.
  [[nodiscard]] bool in_heap(const T& element) const {
    if (element.deadline_at != base_ || spreading_.empty()) return element.deadline_at <= base_;
    std::uint32_t position;
    std::memcpy(&position, &element.heap_position, sizeof position);
    return position < heap_.size() && heap_.at(position).element == &element;
  }

  // Its list matters only if the element is at an end of it, and then the list is known by that
  // end.
  void unlink(T& element) {
    const Links<T> links = element.*kLinks;
    if (links.prev != nullptr && links.next != nullptr) {
      (links.prev->*kLinks).next = links.next;
      (links.next->*kLinks).prev = links.prev;
    } else if (&element == spreading_.front() || &element == spreading_.back()) {
      spreading_.erase(element);
    } else {
      const std::uint32_t level = level_of(element.deadline_at);
      const std::uint32_t slot = digit(element.deadline_at, level);
      level_at(level)->slots[slot].erase(element);
      if (level_at(level)->slots[slot].empty()) clear(level, slot);
    }
  }

  void clear(std::uint32_t level, std::uint32_t slot) {
    level_at(level)->occupied &= ~(std::uint64_t{1} << slot);
    if (level_at(level)->occupied == 0) occupied_levels_ &= ~(1U << level);
  }

  T* first(Time limit, std::uint32_t& moves) {
    while (heap_.empty() || (!spreading_.empty() && heap_.top().deadline_at == base_)) {
      if (spreading_.empty() && !open_first_slot(limit)) return nullptr;
      if (base_ > limit || !spread(moves)) return nullptr;
    }
    return heap_.top().deadline_at <= limit ? heap_.top().element : nullptr;
  }

  // False if there is none that starts at or before the limit. An element alone in its slot takes
  // the base with it, as far as the limit, and so comes to the heap in one move.
  bool open_first_slot(Time limit) {
    if (occupied_levels_ == 0 || first_slot_start() > limit) return false;
    const std::uint32_t level = first_level();
    const std::uint32_t slot = first_digit();
    base_ = first_slot_start();
    spreading_ = std::exchange(level_at(level)->slots[slot], Slot());
    clear(level, slot);
    if (alone(spreading_)) base_ = std::min(spreading_.front()->deadline_at, limit);
    return true;
  }

  // Moves what waits in spreading_ to its place; false if the moves did not reach.
  bool spread(std::uint32_t& moves) {
    for (; moves > 0 && !spreading_.empty(); --moves) place(*spreading_.pop_front());
    return spreading_.empty();
  }

  template <class F>
  static void for_each_in(const Slot& slot, F& f) {
    for (const T* element = slot.front(); element != nullptr; element = Slot::next(*element)) {
      f(*element);
    }
  }

  Time base_ = kNever;
  Heap<Entry> heap_;  // at or before base_
  Slot spreading_;    // the rest of the slot that starts at base_ and is being opened
  std::uint32_t occupied_levels_ = 0;
  std::uint32_t size_ = 0;
  std::unique_ptr<Levels> levels_;  // null until slots are needed
};

template <class T, Links<T> T::*kLinks, std::uint32_t kFew>
void TimerWheel<T, kLinks, kFew>::check() const {
  std::size_t count = heap_.size();
  heap_.check();
  for (std::uint32_t i = 0; i < heap_.size(); ++i) {
    CHECK(heap_.at(i).element->heap_position == i);
    CHECK(heap_.at(i).element->deadline_at == heap_.at(i).deadline_at);
    CHECK(heap_.at(i).deadline_at <= base_);
  }
  const auto check_waiting = [&](const T& element) {
    CHECK(element.deadline_at >= base_);
    ++count;
  };
  for_each_in(spreading_, check_waiting);
  for (std::uint32_t level = 0; level < kLevels; ++level) {
    const std::uint64_t occupied = level_at(level) == nullptr ? 0 : level_at(level)->occupied;
    CHECK((occupied != 0) == ((occupied_levels_ >> level & 1) != 0));
    for (std::uint32_t slot = 0; level_at(level) != nullptr && slot < kSlots; ++slot) {
      const auto check_placed = [&](const T& element) {
        CHECK(element.deadline_at > base_);
        CHECK(level_of(element.deadline_at) == level && digit(element.deadline_at, level) == slot);
        ++count;
      };
      CHECK(level_at(level)->slots[slot].empty() == ((occupied >> slot & 1) == 0));
      for_each_in(level_at(level)->slots[slot], check_placed);
    }
  }
  CHECK(count == size_);
}

}  // namespace xylem
