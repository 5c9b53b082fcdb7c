// Drives a timer wheel and its naive twin, an ordered set, with the same operations, and CHECKs
// that they agree. The operations are made from bytes, which come from a generator
// (timer_wheel_test.cc) or from libFuzzer (timer_wheel_fuzz.cc). CHECK is doctest's in the former,
// which names the seed, and aborts in the latter.
//
// The first bytes of a run are the weights of the operations (swarm testing: a run without cancels,
// or nearly all at one deadline, finds what an even mix hides), each further operation takes a few.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "xylem/check.h"
#include "xylem/core/timer_wheel.h"

namespace xylem::test {

struct Timer {
  Time deadline_at{};
  std::uint32_t id = 0;
  union {
    Links<Timer> links{};
    std::uint32_t heap_position;
  };
};

inline bool earlier(const Timer& a, const Timer& b) {
  return a.deadline_at != b.deadline_at ? a.deadline_at < b.deadline_at : a.id < b.id;
}

// With slots from the first element on; and as the engine has it.
using Wheel = TimerWheel<Timer, &Timer::links, 0>;
using EngineWheel = TimerWheel<Timer, &Timer::links>;

template <class WheelType>
class TimerWheelTwin {
 public:
  explicit TimerWheelTwin(std::span<const std::uint8_t> bytes, Time now = Time(Duration(1'000'000)))
      : bytes_(bytes), now_(now), timers_(kTimers) {
    for (std::uint32_t i = 0; i < kTimers; ++i) {
      timers_[i].id = i * 7 % kTimers;  // an order of its own, not that of the addresses
      idle_.push_back(&timers_[i]);
    }
    for (std::uint8_t& weight : weights_) weight = byte();
    for (std::uint8_t& weight : spans_) weight = byte();
  }

  // Runs until the bytes are used up. Every invariant is recomputed after each `check_every` steps.
  void run(std::uint64_t check_every) {
    while (!bytes_.empty()) {
      step();
      compare();
      if (operations_ % check_every == 0) wheel_.check();
    }
    wheel_.check();
    drain();
  }

  [[nodiscard]] std::uint64_t operations() const { return operations_; }

 private:
  static constexpr std::uint32_t kTimers = 300;
  enum Operation { kSchedule, kCancel, kCancelFirst, kEarliest, kDue, kPass, kOperations };
  enum Span { kSame, kShort, kMedium, kLong, kFar, kMost, kPast, kSpans };

  struct Order {
    bool operator()(const Timer* a, const Timer* b) const { return earlier(*a, *b); }
  };

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }

  // 0 to 2^bits - 1.
  std::int64_t number(std::uint32_t bits) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < bits; i += 8) value = value << 8 | byte();
    return static_cast<std::int64_t>(value & ((std::uint64_t{1} << bits) - 1));
  }

  template <std::size_t kCount>
  std::uint32_t choose(const std::array<std::uint8_t, kCount>& weights) {
    std::uint32_t sum = 0;
    for (const std::uint8_t weight : weights) sum += weight;
    std::uint32_t at = sum == 0 ? 0 : static_cast<std::uint32_t>(number(16)) % sum;
    std::uint32_t choice = 0;
    while (choice + 1 < kCount && at >= weights[choice]) at -= weights[choice++];
    return choice;
  }

  Time make_deadline() {
    switch (static_cast<Span>(choose(spans_))) {
      case kSame:
        return last_deadline_;
      case kShort:
        return now_ + Duration(number(6));
      case kMedium:
        return now_ + Duration(number(14));
      case kLong:
        return now_ + Duration(number(26));
      case kFar:
        return now_ + Duration(number(45));
      case kMost:
        return now_ + seconds(std::numeric_limits<std::uint32_t>::max());
      case kPast:
      case kSpans:
        break;
    }
    const Time base = wheel_.base() == kNever ? now_ : wheel_.base();
    return std::max(Time{}, base - Duration(number(10)));
  }

  std::uint32_t make_budget() {
    const std::uint32_t value = byte();
    return value < 128 ? value % 8 : value * 4;
  }

  void step() {
    ++operations_;
    switch (static_cast<Operation>(choose(weights_))) {
      case kSchedule:
        return schedule();
      case kCancel:
        if (!twin_.empty()) cancel(*pick());
        return;
      case kCancelFirst:
        if (!twin_.empty()) cancel(**twin_.begin());
        return;
      case kEarliest:
        return earliest(make_budget());
      case kDue:
        return earliest_due(make_budget());
      case kPass:
      case kOperations:
        return pass();
    }
  }

  void schedule() {
    if (idle_.empty()) return;
    Timer& timer = *idle_.back();
    idle_.pop_back();
    timer.deadline_at = last_deadline_ = make_deadline();
    wheel_.schedule(timer, now_);
    twin_.insert(&timer);
    moves_allowed_ += levels_below(timer.deadline_at);
  }

  // An element goes down at most once a level: from level 3, to 2, to 1, to 0, to the heap.
  [[nodiscard]] std::uint64_t levels_below(Time deadline_at) const {
    if (wheel_.base() == kNever) return 8;  // it may get to a slot of any level yet
    if (deadline_at <= wheel_.base()) return 0;
    const auto differing = static_cast<std::uint64_t>(deadline_at.time_since_epoch().count()) ^
                           static_cast<std::uint64_t>(wheel_.base().time_since_epoch().count());
    return static_cast<std::uint64_t>(std::bit_width(differing) + 5) / 6;
  }

  Timer* pick() {
    Timer probe;
    probe.deadline_at = now_ + Duration(number(16));
    const auto found = twin_.lower_bound(&probe);
    return found == twin_.end() ? *twin_.rbegin() : *found;
  }

  void cancel(Timer& timer) {
    twin_.erase(&timer);
    wheel_.cancel(timer);
    idle_.insert(idle_.begin(), &timer);
  }

  void spend(std::uint32_t before, std::uint32_t after) {
    CHECK(after <= before);
    moves_made_ += before - after;
    CHECK(moves_made_ <= moves_allowed_);
  }

  void earliest(std::uint32_t budget) {
    std::uint32_t moves = budget;
    const Timer* first = wheel_.earliest(moves);
    spend(budget, moves);
    if (first != nullptr || moves > 0) CHECK(first == (twin_.empty() ? nullptr : *twin_.begin()));
  }

  void earliest_due(std::uint32_t budget) {
    std::uint32_t moves = budget;
    const Time base = wheel_.base();
    const Timer* first = wheel_.earliest_due(now_, moves);
    spend(budget, moves);
    CHECK(wheel_.base() <= std::max(base, now_));
    const bool due = !twin_.empty() && (*twin_.begin())->deadline_at <= now_;
    if (first != nullptr || moves > 0) CHECK(first == (due ? *twin_.begin() : nullptr));
    if (!due) CHECK(first == nullptr);
  }

  // Time goes on: a little, much, or just to where the wheel wants to be woken. It stops early
  // enough that every deadline made is below 2^48 ticks.
  void pass() {
    const std::uint8_t kind = byte() % 4;
    if (kind == 0) now_ += Duration(number(8));
    if (kind == 1) now_ += Duration(number(22));
    const Time next = wheel_.next_deadline();
    if (kind > 1 && next != kNever) now_ = std::max(now_, next);
    now_ = std::min(now_, Time(Duration(std::int64_t{1} << 47)));
  }

  void compare() {
    CHECK(wheel_.size() == twin_.size());
    CHECK(wheel_.empty() == twin_.empty());
    const Time first = twin_.empty() ? kNever : (*twin_.begin())->deadline_at;
    CHECK(wheel_.next_deadline() <= first);
    CHECK((wheel_.next_deadline() == kNever) == twin_.empty());
  }

  // Waking at next_deadline() and taking what is due hands out everything, in order and on time.
  void drain() {
    while (!twin_.empty()) {
      now_ = std::max(now_, wheel_.next_deadline());
      std::uint32_t moves = 1;
      Timer* due = wheel_.earliest_due(now_, moves);
      spend(1, moves);
      if (due == nullptr) continue;
      CHECK(due == *twin_.begin());
      cancel(*due);
    }
    compare();
  }

  std::span<const std::uint8_t> bytes_;  // kept alive by the caller
  Time now_;
  Time last_deadline_{};
  std::vector<Timer> timers_;
  std::vector<Timer*> idle_;
  std::set<Timer*, Order> twin_;
  WheelType wheel_;
  std::array<std::uint8_t, kOperations> weights_{};
  std::array<std::uint8_t, kSpans> spans_{};
  std::uint64_t moves_allowed_ = 0;
  std::uint64_t moves_made_ = 0;
  std::uint64_t operations_ = 0;
};

}  // namespace xylem::test
