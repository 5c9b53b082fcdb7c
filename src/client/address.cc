// Addresses as people write them. A name is resolved when it is connected to, not here, so that a
// name that changes is followed.
#include <algorithm>
#include <charconv>

#include "xylem/client.h"

namespace xylem::client {
namespace {

Error bad(std::string_view text, std::string_view why) {
  return {.text = "'" + std::string(text) + "' is no server address: " + std::string(why),
          .exit_code = 2};
}

// Or the name of a service, which begins with a letter. A number that is too large would be cut to
// 16 bits, and somebody else's server be asked.
bool is_port(std::string_view port) {
  if (port[0] >= 'A') return true;
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc{} && end == port.data() + port.size() && number > 0;
}

Result<Address> with_port(std::string_view text, std::string_view host, std::string_view port) {
  if (host.empty()) return bad(text, "it names no host");
  if (port.empty()) return bad(text, "it names no port");
  if (!is_port(port)) return bad(text, "a port is a number from 1 to 65535");
  return Address{.host = std::string(host), .port = std::string(port)};
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) {
    if (text == kUnix) return bad(text, "it names no path");
    return Address{.path = std::string(text.substr(kUnix.size()))};
  }
  const std::string default_port = Address{}.port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return bad(text, "the bracket is not closed");
    const std::string_view host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (rest.empty()) return with_port(text, host, default_port);
    if (!rest.starts_with(':')) return bad(text, "after the bracket comes ':' and a port");
    return with_port(text, host, rest.substr(1));
  }
  if (std::ranges::count(text, ':') != 1) return with_port(text, text, default_port);
  const std::size_t colon = text.find(':');
  return with_port(text, text.substr(0, colon), text.substr(colon + 1));
}

std::string to_string(const Address& address) {
  if (!address.path.empty()) return "unix:" + address.path;
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + address.port;
}

}  // namespace xylem::client
