// Fork, pin, exec, wait, end. The child is in a process group of its own, so that Ctrl-C reaches
// the generator alone, which then ends the child.
#include "spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <sstream>
#include <utility>
#include <vector>

#include "clock.h"
#include "failure.h"
#include "process.h"

namespace xylem::load {

namespace {

constexpr auto kStartPatience = std::chrono::seconds{10};
constexpr auto kStopPatience = std::chrono::seconds{3};
constexpr auto kStep = std::chrono::milliseconds{5};

[[noreturn]] void run_child(int cpu, const std::function<void()>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // Ctrl-C is for the parent, which ends us
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  try {
    pin(cpu);
    body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "server: {}\n", error.what());
  }
  _exit(127);
}

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream stream(command);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void append_address(const Address& address, std::vector<std::string>& words) {
  words.emplace_back("-l");
  if (address.text.starts_with("unix:")) {
    words.push_back(address.text);
    return;
  }
  const std::size_t colon = address.text.rfind(':');
  words.push_back(address.text.substr(0, colon));
  words.emplace_back("-p");
  words.push_back(address.text.substr(colon + 1));
}

// What a server left that was killed; nobody listens there.
void remove_stale_socket(const Address& address) {
  if (address.text.starts_with("unix:")) unlink(address.text.substr(5).c_str());
}

}  // namespace

SpawnedServer::SpawnedServer(std::string name, const Address& address, int cpu,
                             std::function<void()> body)
    : name_(std::move(name)), address_(address), cpu_(cpu), body_(std::move(body)) {
  start(kStartPatience);
}

SpawnedServer::~SpawnedServer() { stop(SIGTERM); }

void SpawnedServer::start(Duration patience) {
  if (try_connect(address_).get() >= 0) fail("somebody listens at {} already", address_.text);
  remove_stale_socket(address_);
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) fail_errno("fork");
  if (pid_ == 0) run_child(cpu_, body_);
  try {
    await_listening(patience);
  } catch (...) {
    stop(SIGTERM);
    throw;
  }
}

void SpawnedServer::await_listening(Duration patience) {
  for (const Time end = Clock::now() + patience; Clock::now() < end; sleep_for(kStep)) {
    if (try_connect(address_).get() >= 0) return;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;
      fail("{} ended instead of listening at {}", name_, address_.text);
    }
  }
  fail("{} does not listen at {}", name_, address_.text);
}

void SpawnedServer::stop(int signal) {
  if (pid_ <= 0) return;
  const pid_t pid = std::exchange(pid_, 0);
  kill(pid, signal);
  for (const Time end = Clock::now() + kStopPatience; Clock::now() < end; usleep(2000)) {
    if (waitpid(pid, nullptr, WNOHANG) == pid) return;
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

void exec_server(const std::string& command, const Address& address, const std::string& log) {
  std::vector<std::string> words = words_of(command);
  std::ranges::replace(words, std::string(kLogWord), log);
  append_address(address, words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int complaints = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  execvp(arguments[0], arguments.data());
  dup2(complaints, STDERR_FILENO);
  fail_errno("run " + words[0]);
}

}  // namespace xylem::load
