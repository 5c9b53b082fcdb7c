// One conversation, read from a transcript file or from a ```transcript block of a Markdown page.
//
// The language is described in README.md of this folder; this header is its form in memory. Reading
// is strict: an unknown directive, a space at the end of a line or a mark that marks nothing is a
// mistake with a line number.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text.h"

namespace xylem::transcript {

enum class Verb {
  kOpen,       // A+          connect, send nothing
  kSend,       // A> and A>>  the text holds the CRLF already
  kExpect,     // A<          the next line is this
  kBodyFind,   // A~          some line of the last block is this
  kBodyNext,   // A:          the next line of the last block is this
  kBodyEnd,    // A:.         the last block has no more lines
  kQuiet,      // A-          nothing has arrived
  kClosed,     // A.          the server has closed
  kHalfClose,  // A|          shut down our sending side
  kClose,      // A!
  kPass,       // +1100ms
  kDrain,      // ! drain     SIGUSR1
  kStall,      // ! stall 2s  the server sleeps through that time
};

enum class Audience { kEveryone, kXylem, kOracle };

struct Step {
  std::size_t line = 0;
  std::string source;  // As written, for the report.
  Verb verb = Verb::kPass;
  Audience audience = Audience::kEveryone;
  std::string connection;
  Text text;
  std::chrono::milliseconds time{0};
};

enum class WorldKind { kVirtual, kXylemd, kBeanstalkd };

struct Script {
  std::string name;  // The file's.
  std::vector<WorldKind> runs = {WorldKind::kVirtual, WorldKind::kXylemd, WorldKind::kBeanstalkd};
  std::vector<std::pair<std::string, std::string>> options;
  std::vector<std::string> differences;  // The names after "# differs:".
  bool oracle_skips = false;             // Some expectation has no "# beanstalkd:" line.
  std::vector<Step> steps;
};

// Where and why a file could not be read.
struct Mistake {
  std::string where;
  std::string why;
};

// All conversations of a file: one of a .txt, one a block of a .md. `mistakes` gets what is wrong
// with them.
[[nodiscard]] std::vector<Script> read_scripts(const std::string& path,
                                               std::vector<Mistake>& mistakes);

// The same for text at hand; `first_line` is the number of its first line.
[[nodiscard]] Script parse_script(std::string_view text, const std::string& name,
                                  std::size_t first_line, std::vector<Mistake>& mistakes);

}  // namespace xylem::transcript
