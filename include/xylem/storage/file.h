// The only disk interface: a directory and its files. What the log does to a disk goes through
// here, so that a test can put a disk in memory beneath it that knows what was synced, fails at the
// nth operation, or loses power (tests/support/memory_disk.h). The real one is posix_disk.h.
//
// Calls block. A File is used by one thread at a time; different files, and the directory, by
// different threads at once. Errors name the file and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "xylem/result.h"

namespace xylem {

using Done = std::monostate;

class File {
 public:
  virtual ~File() = default;

  virtual Result<std::uint64_t> size() = 0;
  // How many bytes it read: fewer than asked for only at the end of the file.
  virtual Result<std::size_t> read(std::uint64_t at, std::span<char> into) = 0;
  // All parts, one behind the other. A file that ends before `at` has a hole of zeros there.
  virtual Result<Done> write(std::uint64_t at, std::span<const std::string_view> parts) = 0;
  // What was written is on disk, and the size (fdatasync). After an error the file must not be
  // written to again: what the disk has is unknown.
  virtual Result<Done> sync() = 0;
  // Makes the file `bytes` long with blocks for all of it; new bytes are zeros. False: the disk is
  // full; the file may be longer than before.
  virtual Result<bool> allocate(std::uint64_t bytes) = 0;
  // Cuts the file to `bytes`; the blocks behind go back to the disk.
  virtual Result<Done> truncate(std::uint64_t bytes) = 0;
};

// One flat directory.
class Directory {
 public:
  virtual ~Directory() = default;

  // For messages.
  [[nodiscard]] virtual std::string path_of(std::string_view name) const = 0;
  // Names of regular files, in no order.
  virtual Result<std::vector<std::string>> list() = 0;
  // Whether list() names it.
  Result<bool> has(std::string_view name);
  virtual Result<std::unique_ptr<File>> open(std::string_view name) = 0;
  // There must be no file of that name. Null: the disk is full.
  virtual Result<std::unique_ptr<File>> create(std::string_view name) = 0;
  virtual Result<Done> rename(std::string_view from, std::string_view to) = 0;
  virtual Result<Done> remove(std::string_view name) = 0;
  // Names that were created, renamed and removed are on disk.
  virtual Result<Done> sync() = 0;
};

}  // namespace xylem
