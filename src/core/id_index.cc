// See id_index.h. What changes a page's address (it widens, becomes narrow or goes) is done on the
// way back up from the leaf, by functions that return what stands in the page's place now.
#include "xylem/core/id_index.h"

#include <algorithm>
#include <new>

#include "xylem/check.h"

namespace xylem {

void IdTree::insert(JobId id, void* value) {
  CHECK(id != 0 && value != nullptr);
  if (in_last_leaf(id) && last_leaf_->has_room()) {
    last_leaf_->add(place_of(id, 0), value);
  } else {
    if (!in_last_leaf(id)) leave_last_leaf();
    grow_for(id);
    root_ = insert_below(root_, levels_ - 1, id, value);
  }
  ++size_;
}

void* IdTree::find(JobId id) const {
  const Page* leaf = leaf_of(id);
  return leaf == nullptr ? nullptr : leaf->get(place_of(id, 0));
}

void IdTree::erase(JobId id) {
  Page* leaf = leaf_of(id);
  CHECK(leaf != nullptr && leaf->has(place_of(id, 0)));
  leaf->remove(place_of(id, 0));
  --size_;
  if (leaf->too_big() && leaf != last_leaf_) tidy_path(id);
}

void* IdTree::at_or_after(JobId id) const {
  if (root_ == nullptr || levels_for(id) > levels_) return nullptr;
  return first_from(*root_, levels_ - 1, id);
}

// Of the places from id's on, the first that leads to a value. Only the last leaf may lead to none.
void* IdTree::first_from(const Page& page, unsigned level, JobId id) {
  const unsigned start = place_of(id, level);
  std::uint64_t left = page.present & (~std::uint64_t{0} << start);
  for (; left != 0; left &= left - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(left));
    void* found = page.get(place);
    if (level > 0) {
      found = first_from(*static_cast<Page*>(found), level - 1, place == start ? id : 0);
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

IdTree::Page* IdTree::leaf_of(JobId id) const {
  if (in_last_leaf(id)) return last_leaf_;
  if (levels_for(id) > levels_) return nullptr;
  Page* page = root_;
  for (unsigned level = levels_ - 1; level > 0 && page != nullptr; --level) {
    page = static_cast<Page*>(page->get(place_of(id, level)));
  }
  return page;
}

unsigned IdTree::levels_for(JobId id) {
  return std::max(1U, (static_cast<unsigned>(std::bit_width(id)) + kBits - 1) / kBits);
}

void IdTree::grow_for(JobId id) {
  const unsigned needed = levels_for(id);
  if (root_ == nullptr) levels_ = needed;
  for (; levels_ < needed; ++levels_) root_ = with(make(false), 0, root_);
}

// What follows another insert's leaf finds it in order.
void IdTree::leave_last_leaf() {
  if (last_leaf_ == nullptr) return;
  const bool untidy = last_leaf_->too_big();
  last_leaf_ = nullptr;
  if (untidy) tidy_path(last_id_);
}

// `page`, or none, with `id` in it.
IdTree::Page* IdTree::insert_below(Page* page, unsigned level, JobId id, void* value) {
  if (page == nullptr) page = make(false);
  const unsigned place = place_of(id, level);
  if (level == 0) {
    last_id_ = id;
    return last_leaf_ = with(page, place, value);
  }
  auto* child = static_cast<Page*>(page->get(place));
  Page* now = insert_below(child, level - 1, id, value);
  if (child == nullptr) return with(page, place, now);
  page->slots()[page->slot_of(place)] = now;
  return page;
}

// `page`, or a wide one instead, with `value` in a place that is free.
IdTree::Page* IdTree::with(Page* page, unsigned place, void* value) {
  if (!page->has_room()) {
    Page* wide = make(true);
    for (std::uint64_t left = page->present; left != 0; left &= left - 1) {
      const auto each = static_cast<unsigned>(std::countr_zero(left));
      wide->add(each, page->get(each));
    }
    free(page);
    page = wide;
  }
  page->add(place, value);
  return page;
}

void IdTree::tidy_path(JobId id) {
  root_ = tidy_below(root_, levels_ - 1, id);
  if (root_ == nullptr) levels_ = 0;
}

// What should stand in the place of `page`, after the leaf of `id` has lost an entry.
IdTree::Page* IdTree::tidy_below(Page* page, unsigned level, JobId id) {
  if (level == 0) return tidy(page);
  const unsigned place = place_of(id, level);
  auto* child = static_cast<Page*>(page->get(place));
  Page* now = tidy_below(child, level - 1, id);
  if (now == child) return page;
  if (now != nullptr) {
    page->slots()[page->slot_of(place)] = now;
    return page;
  }
  page->remove(place);
  return tidy(page);
}

// `page`, a narrow one instead, or none.
IdTree::Page* IdTree::tidy(Page* page) {
  if (!page->too_big()) return page;
  Page* narrow = page->count == 0 ? nullptr : make(false);
  for (std::uint64_t left = page->present; left != 0; left &= left - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(left));
    narrow->add(place, page->get(place));
  }
  free(page);
  return narrow;
}

IdTree::Page* IdTree::make(bool wide) {
  const std::size_t slots = wide ? kPlaces : kNarrowSlots;
  Page* page = new (slab_.allocate(sizeof(Page) + slots * sizeof(void*))) Page;
  page->wide = wide;
  return page;
}

void IdTree::free(Page* page) {
  const std::size_t slots = page->wide ? kPlaces : kNarrowSlots;
  slab_.release(page, sizeof(Page) + slots * sizeof(void*));
}

void IdTree::Page::add(unsigned place, void* value) {
  CHECK(!has(place) && has_room());
  const unsigned slot = slot_of(place);
  if (!wide) std::copy_backward(slots() + slot, slots() + count, slots() + count + 1);
  slots()[slot] = value;
  present |= std::uint64_t{1} << place;
  ++count;
}

void IdTree::Page::remove(unsigned place) {
  CHECK(has(place));
  const unsigned slot = slot_of(place);
  if (!wide) std::copy(slots() + slot + 1, slots() + count, slots() + slot);
  present &= ~(std::uint64_t{1} << place);
  --count;
}

void IdTree::check() const {
  CHECK((root_ == nullptr) == (levels_ == 0));
  const std::size_t count = root_ == nullptr ? 0 : check_below(*root_, levels_ - 1);
  CHECK(count == size_);
}

std::size_t IdTree::check_below(const Page& page, unsigned level) const {
  CHECK(page.count == static_cast<unsigned>(std::popcount(page.present)));
  CHECK(page.wide || page.count <= kNarrowSlots);
  CHECK(!page.too_big() || &page == last_leaf_);
  if (level == 0) return page.count;
  std::size_t count = 0;
  for (std::uint64_t left = page.present; left != 0; left &= left - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(left));
    count += check_below(*static_cast<const Page*>(page.get(place)), level - 1);
  }
  return count;
}

}  // namespace xylem
