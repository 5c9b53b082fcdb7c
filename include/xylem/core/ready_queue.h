// ReadyQueue: the ready jobs of a tube by (pri, id), ascending. It orders and owns nothing.
//
//     lane 0   7:11 <-> 7:12 <-> 7:14 <-> 7:15        lists in order, linked in the jobs
//     lane 1   3:13 <-> 3:16                          (pri:id)
//     lane 2   9:10
//     heap     5:9, 8:4, ...                          what fits at no end of a lane
//
// A job goes to the end of the lane whose last is the greatest below it, else to the beginning of
// the lane whose first is the least above it, else into an empty lane, else into the heap. The
// front is the first of the lanes' fronts and the heap's top. So a few priorities with rising ids,
// and jobs that come back to where they were taken from, cost O(1) and no memory but the links in
// the job; only jobs in no order cost a place in the heap. Everything but lane 0 is allocated when
// it is first needed, and freed when the queue is empty, because most tubes never need it.
//
// insert, erase: O(1) in a lane, O(log n) in the heap. front: O(1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "xylem/check.h"
#include "xylem/core/ids.h"
#include "xylem/core/list.h"
#include "xylem/core/run_heap.h"

namespace xylem {

// T has `pri`, `id`, `Links<T> links` and `std::uint32_t heap_position` (which may share their
// memory) and `std::uint8_t lane`. While a T is in the queue these are the queue's, and pri and id
// may not change.
template <class T>
class ReadyQueue {
 public:
  // Must not be in the queue.
  void insert(T& job) {
    ++size_;
    const std::uint8_t number = more_ == nullptr && fits_lane_0(job) ? 0 : place_for(job);
    if (number == kHeap) return more_->heap.insert(job);
    job.lane = number;
    if (Lane& its_lane = lane(number); its_lane.empty() || before(*its_lane.back(), job)) {
      its_lane.push_back(job);
    } else {
      its_lane.push_front(job);
    }
  }

  // Must be in the queue.
  void erase(T& job) {
    CHECK(size_ > 0 && (job.lane < lane_count() || more_ != nullptr));
    if (job.lane < kLanes) {
      lane(job.lane).erase(job);
    } else {
      more_->heap.erase(job);
    }
    if (--size_ == 0) more_.reset();
  }

  // The first by (pri, id); null if empty.
  [[nodiscard]] T* front() const {
    T* first = lane_0_.front();
    if (more_ == nullptr) return first;
    for (const Lane& each : more_->lanes) first = earlier(first, each.front());
    return earlier(first, more_->heap.front());
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // Calls f(job) for each, in no order. For checks only.
  template <class F>
  void for_each(F f) const {
    for (std::uint8_t number = 0; number < lane_count(); ++number) {
      for (T* job = lane(number).front(); job != nullptr; job = Lane::next(*job)) f(*job);
    }
    if (more_ != nullptr) more_->heap.for_each(f);
  }

  // Recomputes every invariant. O(n).
  void check() const {
    std::size_t count = 0;
    for (std::uint8_t number = 0; number < lane_count(); ++number) count += check_lane(number);
    if (more_ != nullptr) {
      more_->heap.check();
      count += more_->heap.size();
    }
    CHECK(count == size_);
    CHECK(size_ > 0 || more_ == nullptr);
  }

 private:
  using Lane = List<T, &T::links>;

  static constexpr std::uint8_t kLanes = 4;
  static constexpr std::uint8_t kHeap = kLanes;  // no lane

  struct More {
    std::array<Lane, kLanes - 1> lanes;
    RunHeap<T> heap;
  };

  static bool before(const T& a, const T& b) { return more_urgent(a, b); }
  static T* earlier(T* a, T* b) {
    if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
    return before(*b, *a) ? b : a;
  }

  [[nodiscard]] std::uint8_t lane_count() const { return more_ == nullptr ? 1 : kLanes; }
  [[nodiscard]] Lane& lane(std::uint8_t number) {
    return number == 0 ? lane_0_ : more_->lanes[number - 1U];
  }
  [[nodiscard]] const Lane& lane(std::uint8_t number) const {
    return number == 0 ? lane_0_ : more_->lanes[number - 1U];
  }

  [[nodiscard]] bool fits_lane_0(const T& job) const {
    return lane_0_.empty() || before(*lane_0_.back(), job) || before(job, *lane_0_.front());
  }

  // The lane, or kHeap, where a job goes; makes `more_` if it is missing.
  std::uint8_t place_for(const T& job) {
    if (more_ == nullptr) more_ = std::make_unique<More>();
    std::uint8_t at_end = kHeap;
    std::uint8_t at_beginning = kHeap;
    std::uint8_t empty_lane = kHeap;
    for (std::uint8_t i = 0; i < kLanes; ++i) {
      const Lane& each = lane(i);
      if (each.empty()) {
        if (empty_lane == kHeap) empty_lane = i;
      } else if (before(*each.back(), job)) {
        if (at_end == kHeap || before(*lane(at_end).back(), *each.back())) at_end = i;
      } else if (before(job, *each.front())) {
        if (at_beginning == kHeap || before(*each.front(), *lane(at_beginning).front())) {
          at_beginning = i;
        }
      }
    }
    if (at_end != kHeap) return at_end;
    return at_beginning != kHeap ? at_beginning : empty_lane;
  }

  std::size_t check_lane(std::uint8_t number) const {
    std::size_t count = 0;
    const T* last = nullptr;
    for (T* job = lane(number).front(); job != nullptr; job = Lane::next(*job)) {
      CHECK(job->lane == number);
      CHECK(Lane::prev(*job) == last);
      CHECK(last == nullptr || before(*last, *job));
      last = job;
      ++count;
    }
    CHECK(lane(number).back() == last);
    return count;
  }

  Lane lane_0_;
  std::unique_ptr<More> more_;
  std::size_t size_ = 0;
};

}  // namespace xylem
