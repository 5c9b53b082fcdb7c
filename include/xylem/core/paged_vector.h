// PagedVector: a vector that grows and shrinks at its end and never copies its elements as a whole,
// so that no push stalls the loop, however many elements there are.
//
//   size <= one page      first_ -> [ 2, 4, 8 ... kPageSize elements ]     pages_ -> first_ itself
//   beyond                pages_ -> table: [ first_ | page | page | ... | spare ]
//
// While it fits into one page, that page doubles and halves (at most half a page is copied). From
// then on whole pages of about 4 KiB are added, and taken away when they are empty, but for one
// spare, so that going to and fro over a page's end costs nothing. Only the table of pointers is
// ever copied: for ten million elements of 24 bytes that is 600 KiB, once.
//
// No memory is held before the first push; a small first page is kept once there is one. Elements
// are trivially copyable. Neither copyable nor movable: pages_ may point into the object.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace xylem {

template <class T>
class PagedVector {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 512);

 public:
  // Elements in a whole page: a power of two, so that finding one takes a shift and a mask.
  static constexpr std::uint32_t kPageSize = std::bit_floor(4'096U / std::uint32_t{sizeof(T)});

  PagedVector() = default;
  PagedVector(const PagedVector&) = delete;
  PagedVector& operator=(const PagedVector&) = delete;
  ~PagedVector() {
    while (page_count_ > 1) release_last_page();
    if (first_ != nullptr) release(first_, first_capacity_);
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  // The index must be below size(). A reference lives until the next push_back or pop_back.
  [[nodiscard]] T& operator[](std::uint32_t index) {
    return pages_[index / kPageSize][index % kPageSize];
  }
  [[nodiscard]] const T& operator[](std::uint32_t index) const {
    return pages_[index / kPageSize][index % kPageSize];
  }
  // Must not be empty.
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }

  // O(1) amortised.
  void push_back(T element) {
    if (size_ == capacity()) grow();
    (*this)[size_++] = element;
  }

  // Must not be empty. O(1) amortised.
  void pop_back() {
    --size_;
    if (size_ % kPageSize == 0 || size_ <= first_capacity_ / 4) shrink();
  }

  // Elements that there is room for without an allocation.
  [[nodiscard]] std::uint32_t capacity() const {
    return page_count_ > 1 ? page_count_ * kPageSize : first_capacity_;
  }

 private:
  static constexpr std::uint32_t kFirstCapacity = std::min(2U, kPageSize);
  // The first page does not shrink below this: with a handful of elements nothing is allocated.
  static constexpr std::uint32_t kKeptCapacity = std::min(8U, kPageSize);
  static constexpr std::uint32_t kLeastTable = 4;

  static T* allocate(std::uint32_t count) { return std::allocator<T>().allocate(count); }
  static void release(T* page, std::uint32_t count) { std::allocator<T>().deallocate(page, count); }

  void grow() {
    if (first_capacity_ < kPageSize) {
      resize_first(first_ == nullptr ? kFirstCapacity : first_capacity_ * 2);
      return;
    }
    if (page_count_ == table_capacity_) resize_table(std::max(kLeastTable, table_capacity_ * 2));
    pages_[page_count_++] = allocate(kPageSize);
  }

  // Gives back what is empty beyond the spare page, then halves a first page that stands alone.
  void shrink() {
    const std::uint32_t used = (size_ + kPageSize - 1) / kPageSize;
    while (page_count_ > used + 1) release_last_page();
    if (size_ > first_capacity_ / 4 || first_capacity_ <= kKeptCapacity) return;
    while (page_count_ > 1) release_last_page();
    resize_first(first_capacity_ / 2);
  }

  void resize_first(std::uint32_t capacity) {
    T* page = allocate(capacity);
    if (first_ != nullptr) {
      std::copy_n(first_, size_, page);
      release(first_, first_capacity_);
    }
    first_ = page;
    first_capacity_ = capacity;
    page_count_ = 1;
    table_capacity_ = 1;
    pages_ = &first_;
  }

  void release_last_page() {
    release(pages_[--page_count_], kPageSize);
    if (page_count_ == 1) {
      resize_table(1);
    } else if (page_count_ <= table_capacity_ / 4 && table_capacity_ > kLeastTable) {
      resize_table(table_capacity_ / 2);
    }
  }

  void resize_table(std::uint32_t capacity) {
    T** table = capacity == 1 ? &first_ : std::allocator<T*>().allocate(capacity);
    std::copy_n(pages_, page_count_, table);
    if (pages_ != &first_) std::allocator<T*>().deallocate(pages_, table_capacity_);
    pages_ = table;
    table_capacity_ = capacity;
  }

  T* first_ = nullptr;
  T** pages_ = nullptr;  // &first_ while there is one page
  std::uint32_t size_ = 0;
  std::uint32_t page_count_ = 0;
  std::uint32_t table_capacity_ = 0;
  std::uint32_t first_capacity_ = 0;
};

}  // namespace xylem
