// List: an intrusive, doubly linked list. It orders and owns nothing; what is linked must be
// unlinked before it dies. Every operation is O(1) and allocates nothing. A list is two pointers
// and may not be moved while iterated; links of an element that is in no list mean nothing.
#pragma once

namespace xylem {

template <class T>
struct Links {
  T* prev = nullptr;
  T* next = nullptr;
};

// kLinks names the member of T that links it, so that a T can stand in lists of several kinds.
template <class T, Links<T> T::*kLinks>
class List {
 public:
  [[nodiscard]] bool empty() const { return front_ == nullptr; }
  [[nodiscard]] T* front() const { return front_; }  // null if empty
  [[nodiscard]] T* back() const { return back_; }    // null if empty
  [[nodiscard]] static T* next(const T& element) { return (element.*kLinks).next; }
  [[nodiscard]] static T* prev(const T& element) { return (element.*kLinks).prev; }

  void push_back(T& element) {
    (element.*kLinks) = {.prev = back_, .next = nullptr};
    (back_ == nullptr ? front_ : (back_->*kLinks).next) = &element;
    back_ = &element;
  }

  void push_front(T& element) {
    (element.*kLinks) = {.prev = nullptr, .next = front_};
    (front_ == nullptr ? back_ : (front_->*kLinks).prev) = &element;
    front_ = &element;
  }

  // Behind `place`, or in front of all if that is null.
  void insert_after(T* place, T& element) {
    if (place == back_) return push_back(element);
    if (place == nullptr) return push_front(element);
    T* behind = (place->*kLinks).next;
    (element.*kLinks) = {.prev = place, .next = behind};
    (place->*kLinks).next = &element;
    (behind->*kLinks).prev = &element;
  }

  // Must be in this list.
  void erase(T& element) {
    const Links<T> links = element.*kLinks;
    (links.prev == nullptr ? front_ : (links.prev->*kLinks).next) = links.next;
    (links.next == nullptr ? back_ : (links.next->*kLinks).prev) = links.prev;
  }

  // Takes the front off; null if empty.
  T* pop_front() {
    T* element = front_;
    if (element != nullptr) erase(*element);
    return element;
  }

 private:
  T* front_ = nullptr;
  T* back_ = nullptr;
};

}  // namespace xylem
