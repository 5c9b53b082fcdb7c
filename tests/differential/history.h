// A run that can be played again: its steps, with what was heard; written as a transcript, and made
// shorter.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "op.h"
#include "pair.h"

namespace xylem::differential {

struct History {
  std::vector<Op> ops;
  std::vector<std::vector<Heard>> heard;  // For each step; the last may lack what differed.
};

// Plays the steps on two fresh servers, up to the first difference. `history` gets what was done
// and heard.
[[nodiscard]] std::optional<Difference> replay(const std::array<std::string, 2>& binaries,
                                               const std::vector<Op>& ops, History& history);

// Leaves out steps as long as a difference remains, for at most `time`.
[[nodiscard]] std::vector<Op> shrink(const std::array<std::string, 2>& binaries,
                                     std::vector<Op> ops, std::chrono::seconds time);

// The last `most` steps in the language of tests/transcripts.
[[nodiscard]] std::string as_transcript(const History& history, std::size_t most);

}  // namespace xylem::differential
