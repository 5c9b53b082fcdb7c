// Becoming another user (-u), after the sockets are bound: its uid, its primary group and its
// supplementary groups.
#pragma once

#include <string>
#include <variant>

#include "xylem/result.h"

namespace xylem {

// Exit codes: 33 unknown user, 32 the user could not be looked up, 34 not permitted.
Result<std::monostate> become_user(const std::string& name);

}  // namespace xylem
