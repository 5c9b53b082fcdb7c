// A CHECK that fails must say where and stop the process. doctest has a CHECK
// of its own, so the function behind ours is called.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <string>

namespace xylem {

[[noreturn]] void check_failed(const char* file, int line, const char* condition) noexcept;

namespace {

std::string read_all(int fd) {
  std::string all;
  std::array<char, 256> piece{};
  for (ssize_t count = 0; (count = read(fd, piece.data(), piece.size())) > 0;) {
    all.append(piece.data(), static_cast<std::size_t>(count));
  }
  return all;
}

}  // namespace

TEST_CASE("a failed CHECK names the place and aborts") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    check_failed("a/file.cc", 42, "jobs == 0");
  }
  close(ends[1]);
  const std::string said = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(said == "xylem: CHECK failed: a/file.cc:42: jobs == 0\n");
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

}  // namespace xylem
