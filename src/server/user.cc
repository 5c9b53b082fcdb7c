// getpwnam, initgroups, setgid, setuid. The order matters: groups first, while we still may change
// them.

#include "server/user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace xylem {

Result<std::monostate> become_user(const std::string& name) {
  errno = 0;
  const passwd* user = getpwnam(name.c_str());
  if (user == nullptr) {
    const bool unknown = errno == 0 || errno == ENOENT;
    return unknown ? Error{fmt::format("user {}: there is no such user", name), 33}
                   : Error{fmt::format("user {}: {}", name, std::strerror(errno)), 32};
  }
  // Who is that user already has its groups, or lacks them on purpose, and may not change them.
  const bool already = getuid() == user->pw_uid && geteuid() == user->pw_uid;
  const bool grouped = initgroups(name.c_str(), user->pw_gid) == 0 || already;
  if (!grouped || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) {
    return Error{fmt::format("cannot become user {}: {}", name, std::strerror(errno)), 34};
  }
  return std::monostate{};
}

}  // namespace xylem
