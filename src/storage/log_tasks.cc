// What the log has a disk do. Runs on any thread, so it touches nothing but the task and its files.
// The order of the calls is what a power cut sees: bytes before their sync, a file's sync before
// the next file's bytes, removals before the sync of the directory.
#include <chrono>
#include <utility>

#include "xylem/storage/log.h"

namespace xylem {

void LogWrite::run() {
  if (auto done = perform(); !done) error = done.error();
}

// File by file: the next one is begun when this one is on disk.
Result<Done> LogWrite::perform() {
  using std::chrono::steady_clock;
  steady_clock::duration took{};
  for (const Part& part : parts_) {
    if (!part.bytes.empty()) {
      if (auto written = part.file->write(part.at, part.bytes); !written) return written;
    }
    if (!synced) continue;
    const auto before = steady_clock::now();
    if (auto done = part.file->sync(); !done) return done;
    took += steady_clock::now() - before;
  }
  sync_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  return Done{};
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
      return remove();
  }
  return Done{};
}

Result<Done> LogChore::remove() {
  for (const Removal& one : removals_) {
    const std::string name = segment_name(one.number);
    auto done = one.set_aside ? directory_->rename(name, damaged_name(one.number))
                              : directory_->remove(name);
    if (!done) return done;
  }
  return directory_->sync();
}

// A new file, or a spare that has to grow or shrink. If the disk is full a new one goes again, and
// one that was there goes back to what it was.
Result<Done> LogChore::prepare_spare() {
  const bool is_new = file_ == nullptr;
  if (is_new) {
    auto made = directory_->create(segment_name(number_));
    if (!made) return made.error();
    file_ = std::move(made).value();
    full_ = file_ == nullptr;
    if (full_) return Done{};
  }
  if (bytes_ < bytes_before_) return file_->truncate(bytes_);
  auto allocated = file_->allocate(bytes_);
  if (!allocated) return allocated.error();
  full_ = !allocated.value();
  if (full_ && !is_new) return file_->truncate(bytes_before_);
  if (full_) {
    file_.reset();
    return directory_->remove(segment_name(number_));
  }
  if (auto synced = file_->sync(); !synced) return synced;
  return directory_->sync();
}

}  // namespace xylem
