// RunHeap: jobs by (pri, id) that came in no order, however many. It orders and owns nothing.
//
//     young   a heap of fewer than kRunSize entries: where every job goes first
//     runs    [ - - 3:8 5:2 7:9 ... ]   [ - 4:1 4:6 6:3 ... ]   ...      when young is full it is
//     heads   a heap of the runs by their first entries                  sorted into a run
//
// In one heap of millions each put and pop walks through cold memory, and tells cold jobs their new
// places. Here the young heap fits into the cache, and so does the heap of heads (one for each few
// thousand jobs); a run is written once and read once, in order, a step ahead. With five million
// jobs of random priority a pop costs 0.6 us, and 0.35 with a million; in one 4-ary heap 3.1
// and 1.2.
//
// An entry of a run stays in its place: an erased one leaves a hole. A run with less than a quarter
// left gives it back to the young heap, so memory is at most 96 bytes a job, and 24 when it is put.
//
// insert, erase: O(log n) amortised; once in kRunSize calls a run is sorted, which takes a few
// tenths of a millisecond. front: O(1).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "xylem/check.h"
#include "xylem/core/heap.h"
#include "xylem/core/ids.h"

namespace xylem {

// T has `pri`, `id`, and `std::uint32_t heap_position` and `std::uint8_t lane`, which are the
// heap's own while the T is in it: lane is then kYoung or kInRun.
template <class T>
class RunHeap {
 public:
  static constexpr std::uint8_t kYoung = 254;
  static constexpr std::uint8_t kInRun = 255;
  static constexpr std::uint32_t kRunSize = 4'096;

  // Must not be in it.
  void insert(T& job) {
    push_young({.pri = job.pri, .id = job.id, .job = &job});
    ++size_;
    if (young_.size() == kRunSize) sort_young();
  }

  // Must be in it.
  void erase(T& job) {
    --size_;
    if (job.lane == kYoung) return young_.erase(job.heap_position);
    CHECK(job.lane == kInRun);
    erase_from_run(job.heap_position / kRunSize, job.heap_position % kRunSize);
  }

  // The first by (pri, id); null if empty.
  [[nodiscard]] T* front() const {
    if (heads_.empty()) return young_.empty() ? nullptr : young_.top().job;
    if (young_.empty()) return heads_.top().job;
    const Head& head = heads_.top();
    return young_.top().before({.pri = head.pri, .id = head.id, .job = nullptr}) ? young_.top().job
                                                                                 : head.job;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // Calls f(job) for each, in no order.
  template <class F>
  void for_each(F f) const {
    for (std::uint32_t i = 0; i < young_.size(); ++i) f(*young_.at(i).job);
    for (std::uint32_t i = 0; i < heads_.size(); ++i) {
      for (const Entry& entry : runs_[heads_.at(i).run]->entries) {
        if (entry.job != nullptr) f(*entry.job);
      }
    }
  }

  // Recomputes every invariant. O(n).
  void check() const {
    young_.check();
    heads_.check();
    CHECK(young_.size() < kRunSize);
    CHECK(heads_.size() + free_numbers_.size() == runs_.size());
    std::size_t count = young_.size();
    for (std::uint32_t i = 0; i < young_.size(); ++i) {
      check_entry(young_.at(i));
      CHECK(young_.at(i).job->lane == kYoung && young_.at(i).job->heap_position == i);
    }
    for (std::uint32_t i = 0; i < heads_.size(); ++i) count += check_run(i);
    CHECK(count == size_);
  }

 private:
  struct Entry {
    std::uint32_t pri;
    JobId id;
    T* job;  // null: a hole

    [[nodiscard]] bool before(const Entry& other) const { return more_urgent(*this, other); }
    void moved_to(std::uint32_t position) const { job->heap_position = position; }
  };

  struct Run {
    std::uint32_t head_position;  // in heads_
    std::uint32_t first;          // all before it are holes, it is none
    std::uint32_t left;           // entries that are no holes
    std::array<Entry, kRunSize> entries;
  };

  struct Head {
    std::uint32_t pri;
    std::uint32_t run;
    JobId id;
    T* job;
    Run* its_run;

    [[nodiscard]] bool before(const Head& other) const { return more_urgent(*this, other); }
    void moved_to(std::uint32_t position) const { its_run->head_position = position; }
  };

  // A place in a run is the run's number and the place, in 32 bits; a run has at least a quarter
  // left.
  static constexpr std::uint32_t kMostRuns = 0xffff'ffff / kRunSize;
  static constexpr std::uint32_t kLeastLeft = kRunSize / 4;

  [[nodiscard]] Head head_of(std::uint32_t number) const {
    Run& run = *runs_[number];
    const Entry& first = run.entries[run.first];
    return {.pri = first.pri, .run = number, .id = first.id, .job = first.job, .its_run = &run};
  }

  void push_young(const Entry& entry) {
    entry.job->lane = kYoung;
    young_.push(entry);
  }

  std::uint32_t free_number() {
    if (free_numbers_.empty()) {
      CHECK(runs_.size() < kMostRuns);
      runs_.emplace_back();
      return static_cast<std::uint32_t>(runs_.size() - 1);
    }
    const std::uint32_t number = free_numbers_.back();
    free_numbers_.pop_back();
    return number;
  }

  void sort_young() {
    const std::uint32_t number = free_number();
    runs_[number] = std::make_unique_for_overwrite<Run>();
    Run& run = *runs_[number];
    for (std::uint32_t i = kRunSize; i-- > 0; young_.erase(i)) run.entries[i] = young_.at(i);
    std::sort(run.entries.begin(), run.entries.end(),
              [](const Entry& a, const Entry& b) { return a.before(b); });
    for (std::uint32_t i = 0; i < kRunSize; ++i) {
      run.entries[i].job->lane = kInRun;
      run.entries[i].job->heap_position = number * kRunSize + i;
    }
    run.first = 0;
    run.left = kRunSize;
    heads_.push(head_of(number));
  }

  void erase_from_run(std::uint32_t number, std::uint32_t place) {
    Run& run = *runs_[number];
    run.entries[place].job = nullptr;
    --run.left;
    if (run.left < kLeastLeft) return give_back(number);
    if (place != run.first) return;
    while (run.entries[run.first].job == nullptr) ++run.first;
    heads_.replaced(run.head_position, head_of(number));
    // Both are cold, and wanted when the other runs have had their turn.
    __builtin_prefetch(run.entries[run.first].job);
    __builtin_prefetch(&run.entries[std::min(run.first + 3, kRunSize - 1)]);
  }

  // What is left of a run becomes young again.
  void give_back(std::uint32_t number) {
    const std::unique_ptr<Run> run = std::move(runs_[number]);
    heads_.erase(run->head_position);
    free_numbers_.push_back(number);
    for (const Entry& entry : run->entries) {
      if (entry.job == nullptr) continue;
      push_young(entry);
      if (young_.size() == kRunSize) sort_young();
    }
  }

  static void check_entry(const Entry& entry) {
    CHECK(entry.pri == entry.job->pri && entry.id == entry.job->id);
  }

  std::size_t check_run(std::uint32_t head) const {
    const std::uint32_t number = heads_.at(head).run;
    const Run& run = *runs_[number];
    CHECK(heads_.at(head).job == run.entries[run.first].job);
    CHECK(heads_.at(head).its_run == &run && run.head_position == head);
    CHECK(run.left >= kLeastLeft && run.entries[run.first].job != nullptr);
    CHECK(heads_.at(head).pri == run.entries[run.first].pri);
    CHECK(heads_.at(head).id == run.entries[run.first].id);
    std::size_t left = 0;
    for (std::uint32_t i = 0; i < kRunSize; ++i) {
      const Entry& entry = run.entries[i];
      CHECK(i == 0 || run.entries[i - 1].before(entry));
      if (entry.job == nullptr) continue;
      CHECK(i >= run.first);
      check_entry(entry);
      CHECK(entry.job->lane == kInRun && entry.job->heap_position == number * kRunSize + i);
      ++left;
    }
    CHECK(left == run.left);
    return left;
  }

  Heap<Entry> young_;
  Heap<Head> heads_;
  std::vector<std::unique_ptr<Run>> runs_;  // by number; null if free
  std::vector<std::uint32_t> free_numbers_;
  std::size_t size_ = 0;
};

}  // namespace xylem
