// What the log has a disk do. Runs on any thread, so it touches nothing but the task and its files.
#include <chrono>
#include <utility>

#include "xylem/storage/log.h"

namespace xylem {

void LogWrite::run() {
  for (const Part& part : parts_) {
    if (auto written = part.file->write(part.at, part.bytes); !written) {
      error = written.error();
      return;
    }
  }
  if (files_to_sync_.empty()) return;
  using std::chrono::steady_clock;
  const auto before = steady_clock::now();
  for (File* file : files_to_sync_) {
    if (auto synced_file = file->sync(); !synced_file) {
      error = synced_file.error();
      return;
    }
  }
  const auto took = steady_clock::now() - before;
  sync_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

void LogChore::run() {
  if (auto done = perform(); !done) error = done.error();
}

Result<Done> LogChore::perform() {
  switch (kind_) {
    case Kind::kPrepareSpare:
      return prepare_spare();
    case Kind::kTrim: {
      auto cut = file_->truncate(bytes_);
      file_.reset();
      return cut;
    }
    case Kind::kRemove:
    case Kind::kSetAside: {
      auto done = kind_ == Kind::kRemove
                      ? directory_->remove(segment_name(number_))
                      : directory_->rename(segment_name(number_), damaged_name(number_));
      return done ? directory_->sync() : done;
    }
  }
  return Done{};
}

// A new file, or a spare that has to grow. If the disk is full a new one goes again, and one that
// was there goes back to what it was.
Result<Done> LogChore::prepare_spare() {
  const bool is_new = file_ == nullptr;
  if (is_new) {
    auto made = directory_->create(segment_name(number_));
    if (!made) return made.error();
    file_ = std::move(made).value();
  }
  auto size = file_->size();
  if (!size) return size.error();
  auto allocated = file_->allocate(bytes_);
  if (!allocated) return allocated.error();
  full_ = !allocated.value();
  if (full_ && !is_new) return file_->truncate(size.value());
  if (full_) {
    file_.reset();
    return directory_->remove(segment_name(number_));
  }
  if (auto synced = file_->sync(); !synced) return synced;
  return directory_->sync();
}

}  // namespace xylem
