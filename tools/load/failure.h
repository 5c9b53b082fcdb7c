// How the load generator gives up: a server that answers wrongly, a socket that breaks or a wait
// that lasts too long ends the whole run, from whatever depth, with one line of text and exit
// code 1. It is an exception so that the servers that we started are ended on the way out; main()
// alone catches it.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace xylem::load {

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw std::runtime_error(fmt::format(format, std::forward<Args>(args)...));
}

/// As fail(), with the text of errno behind it.
[[noreturn]] inline void fail_errno(const std::string& what) {
  fail("{}: {}", what, std::strerror(errno));
}

}  // namespace xylem::load
