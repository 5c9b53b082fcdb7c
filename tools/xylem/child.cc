// posix_spawn, since the worker has threads. The body stands in an unnamed file in memory, so that
// no pipe has to be fed while the command runs.
#include "child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "exit_codes.h"
#include "text.h"

extern char** environ;  // NOLINT

namespace xylem::tool {
namespace {

Error failed(std::string_view what, int error) {
  return {.text = fmt::format("{}: {}", what, std::strerror(error)), .exit_code = kInOut};
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// A descriptor that is closed when it is out of scope.
struct Closing {
  int fd;
  explicit Closing(int opened) : fd(opened) {}
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  ~Closing() {
    if (fd >= 0) close(fd);
  }
};

// Replaces each {}; says whether there was one.
bool fill_in(std::vector<std::string>& words, std::string_view value) {
  constexpr std::string_view kHole = "{}";
  bool found = false;
  for (std::string& word : words) {
    for (std::size_t at = word.find(kHole); at != std::string::npos;
         at = word.find(kHole, at + value.size())) {
      word.replace(at, kHole.size(), value);
      found = true;
    }
  }
  return found;
}

Result<std::string> write_file(std::string_view body) {
  const char* folder = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/xylem-job-XXXXXX", folder == nullptr ? "/tmp" : folder);
  const Closing file(mkostemp(path.data(), O_CLOEXEC));
  if (file.fd < 0) return failed(path, errno);
  if (write_all(file.fd, body)) return path;
  const int error = errno;
  unlink(path.c_str());
  return failed(path, error);
}

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// Of two variables of one name a shell takes the last, getenv() the first.
bool names_one_of(std::string_view variable, const std::vector<std::string>& variables) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(variables,
                             [name](const std::string& each) { return each.starts_with(name); });
}

// 0, or the errno.
int spawn(pid_t& pid, int input, std::vector<std::string>& words,
          const std::vector<std::string>& variables) {
  std::vector<std::string> added = variables;
  std::vector<char*> environment = pointers(added);
  environment.pop_back();
  for (char** each = environ; *each != nullptr; ++each) {
    if (!names_one_of(*each, variables)) environment.push_back(*each);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t as_usual;
  sigemptyset(&as_usual);
  for (const int number : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&as_usual, number);
  posix_spawnattr_setsigdefault(&attributes, &as_usual);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawnp(&pid, words.front().c_str(), &files, &attributes,
                                 pointers(words).data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

Result<Child> Child::start(std::vector<std::string> words, std::string_view body, BodyGoes goes,
                           const std::vector<std::string>& variables) {
  std::string path;
  if (goes == BodyGoes::kIntoFile) {
    Result<std::string> written = write_file(body);
    if (!written) return written.error();
    path = std::move(written).value();
    if (!fill_in(words, path)) words.push_back(path);
  }
  if (goes == BodyGoes::kIntoArguments) {
    if (body.find('\0') != std::string_view::npos) {
      return Error{.text = "a body with a NUL byte cannot be an argument", .exit_code = kInOut};
    }
    fill_in(words, body);
  }
  const bool to_input = goes == BodyGoes::kToInput;
  const Closing input(to_input ? memfd_create("xylem-job", MFD_CLOEXEC)
                               : open("/dev/null", O_RDONLY | O_CLOEXEC));
  pid_t pid = -1;
  int error = input.fd < 0 || (to_input && !write_all(input.fd, body)) ? errno : 0;
  if (to_input) lseek(input.fd, 0, SEEK_SET);
  if (error == 0) error = spawn(pid, input.fd, words, variables);
  if (error != 0) {
    if (!path.empty()) unlink(path.c_str());
    return failed(escaped(words.front()), error);
  }
  // glibc 2.36 declares pidfd_open() for C only.
  return Child(pid, static_cast<int>(syscall(SYS_pidfd_open, pid, 0)), std::move(path));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pid_fd_(std::exchange(other.pid_fd_, -1)),
      path_(std::move(other.path_)) {
  other.path_.clear();
}

Child::~Child() {
  if (pid_ > 0) {
    kill(SIGKILL);
    wait();
  }
  if (pid_fd_ >= 0) close(pid_fd_);
  if (!path_.empty()) unlink(path_.c_str());
}

void Child::kill(int number) const { ::kill(-pid_, number); }

int Child::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool is_command(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name);
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "/bin:/usr/bin" : path;
  while (!left.empty()) {
    const std::string folder(left.substr(0, left.find(':')));
    if (is_program(folder + "/" + name)) return true;
    left.remove_prefix(std::min(left.size(), folder.size() + 1));
  }
  return false;
}

}  // namespace xylem::tool
