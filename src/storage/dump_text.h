// Bytes as text that a line can hold: quoted for people, or as JSON has it. A body may be anything,
// so nothing here takes it for text unseen.
#pragma once

#include <string>
#include <string_view>

namespace xylem {

// In double quotes; what is not printable ASCII as \n, \r, \t, \" or \\ or \xHH.
std::string quoted(std::string_view bytes);

bool is_utf8(std::string_view bytes);
// A JSON string, quotes included. The bytes are UTF-8; what would steer a terminal is escaped too.
std::string json_string(std::string_view utf8);
std::string base64(std::string_view bytes);

}  // namespace xylem
