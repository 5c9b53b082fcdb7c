// Result<T>: a value, or the reason why there is none. For the world's failures only (disk, socket,
// config). The text is made where the context is known and is written for an operator to read.
//
// It stands in an installed header too (client.h), so it calls CHECK's function and leaves the
// macro to those who ask for it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace xylem {

[[noreturn]] void check_failed(const char* file, int line, const char* condition) noexcept;

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
    if (!ok()) check_failed(__FILE__, __LINE__, "ok()");
    return *std::get_if<T>(&state_);
  }
  [[nodiscard]] T&& value() && {
    if (!ok()) check_failed(__FILE__, __LINE__, "ok()");
    return std::move(*std::get_if<T>(&state_));
  }
  // Must not be ok().
  [[nodiscard]] const Error& error() const {
    if (ok()) check_failed(__FILE__, __LINE__, "!ok()");
    return *std::get_if<Error>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace xylem
