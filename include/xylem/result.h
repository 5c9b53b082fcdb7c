// Result<T>: a value, or the reason why there is none. For the world's failures only (disk, socket,
// config). The text is made where the context is known and is written for an operator to read.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "xylem/check.h"

namespace xylem {

// What went wrong, in a sentence; `exit_code` is what the process ends with if this ends it.
struct Error {
  std::string text;
  int exit_code = 1;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: a value is a result
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: so is an error

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  // Must be ok().
  [[nodiscard]] T& value() & {
    CHECK(ok());
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T&& value() && {
    CHECK(ok());
    return std::move(*std::get_if<T>(&state_));
  }
  // Must not be ok().
  [[nodiscard]] const Error& error() const {
    CHECK(!ok());
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace xylem
