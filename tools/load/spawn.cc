// Fork, pin, exec, wait, end. The child is in a process group of its own, so that Ctrl-C reaches
// the generator alone, which then ends the child.
#include "spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <sstream>
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

SpawnedServer::SpawnedServer(const std::string& name, const Address& address, int cpu,
                             const std::function<void()>& body) {
  if (try_connect(address).get() >= 0) fail("somebody listens at {} already", address.text);
  remove_stale_socket(address);
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) fail_errno("fork");
  if (pid_ == 0) run_child(cpu, body);
  try {
    await_listening(name, address);
  } catch (...) {
    end();
    throw;
  }
}

SpawnedServer::~SpawnedServer() { end(); }

void SpawnedServer::await_listening(const std::string& name, const Address& address) {
  for (const Time end = Clock::now() + kStartPatience; Clock::now() < end; sleep_for(kStep)) {
    if (try_connect(address).get() >= 0) return;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;
      fail("{} ended instead of listening at {}", name, address.text);
    }
  }
  fail("{} does not listen at {}", name, address.text);
}

void SpawnedServer::end() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  for (const Time end = Clock::now() + kStopPatience; Clock::now() < end; usleep(2000)) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) return;
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void exec_server(const std::string& command, const Address& address) {
  std::vector<std::string> words = words_of(command);
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
