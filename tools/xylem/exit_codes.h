// What `xylem` ends with. The one table: `xylem --help` prints it, and a test demands that xylem(1)
// holds the same lines.
#pragma once

#include <array>
#include <string_view>

#include "xylem/client.h"
#include "xylem/result.h"

namespace xylem::tool {

inline constexpr int kDone = 0;
inline constexpr int kNothing = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUnreachable = client::kUnreachable;
inline constexpr int kRefused = 4;
inline constexpr int kInOut = 5;
inline constexpr int kInterrupted = client::kInterrupted;

struct ExitCode {
  int code;
  std::string_view meaning;
};

inline constexpr std::array<ExitCode, 7> kExitCodes{{
    {kDone, "done"},
    {kNothing, "not found, or nothing to do"},
    {kUsage, "usage"},
    {kUnreachable, "cannot connect, or the connection was lost"},
    {kRefused, "the server refused"},
    {kInOut, "cannot read the input or write the output"},
    {kInterrupted, "interrupted"},
}};

// What a SIGINT or SIGTERM in the middle ends with.
inline Error interrupted() { return {.text = "interrupted", .exit_code = kInterrupted}; }

}  // namespace xylem::tool
