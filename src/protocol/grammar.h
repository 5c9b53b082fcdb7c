// Grammar: one command line, without its CRLF, to a value (protocol.md, "Commands" and
// "Arguments"). A pure function: what a line means does not depend on the lines before it. Framing
// is the parser's.
#pragma once

#include <string_view>

#include "xylem/protocol/parser.h"

namespace xylem {

// Never Incomplete. A PutLine's fate is kBodyFollows or kTrailing: whether the body is too big is
// for the parser to say. Tube names point into `line`. Without `admin_commands` those are unknown.
Parser::Item parse_line(std::string_view line, bool admin_commands);

}  // namespace xylem
