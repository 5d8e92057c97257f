#include "loadtest/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace turnstile::harness {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostOutput = 16 << 20;

std::vector<char*> pointersOf(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  for (const auto& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// 1024 connections need more descriptors than the usual soft limit of 1024
void raiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int codeOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// A pipe that exec closes tells the parent whether exec worked: errno comes through it, or nothing
// does.
void startOrThrow(pid_t child, int readEnd, const std::string& program) {
  int error = 0;
  const auto got = read(readEnd, &error, sizeof error);
  close(readEnd);
  if (got == static_cast<ssize_t>(sizeof error)) {
    waitpid(child, nullptr, 0);
    throw std::system_error(error, std::generic_category(), "cannot start " + program);
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv) {
  int out[2], failed[2];
  if (pipe2(out, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  if (pipe2(failed, O_CLOEXEC) != 0) {
    close(out[0]);
    close(out[1]);
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  const auto pointers = pointersOf(argv);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // the parent died before prctl
    ::signal(SIGINT, SIG_DFL);
    raiseDescriptorLimit();
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(out[1], STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    const int error = errno;
    [[maybe_unused]] const auto sent = write(failed[1], &error, sizeof error);
    _exit(127);
  }
  close(out[1]);
  close(failed[1]);
  pipe_ = out[0];
  if (pid_ < 0) {
    close(failed[0]);
    close(pipe_);
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  try {
    startOrThrow(pid_, failed[0], argv[0]);
  } catch (...) {
    close(pipe_);
    throw;
  }
}

ChildProcess::~ChildProcess() {
  if (!exitCode_) {
    signal(SIGKILL);
    reap();
  }
  close(pipe_);
}

bool ChildProcess::pump(std::chrono::milliseconds atMost) {
  const auto until = Clock::now() + atMost;
  while (!exitCode_) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd ready{pipe_, POLLIN, 0};
    if (poll(&ready, 1, left > 0 ? static_cast<int>(left) : 0) <= 0)
      return false;  // a signal counts as "look again later"
    char buffer[16384];
    const auto got = read(pipe_, buffer, sizeof buffer);
    if (got > 0 && output_.size() < kMostOutput)
      output_.append(buffer, static_cast<std::size_t>(got));
    if (got == 0) reap();  // end of output: it has ended or is about to
  }
  return true;
}

void ChildProcess::signal(int number) {
  if (!exitCode_) kill(-pid_, number);
}

void ChildProcess::reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  exitCode_ = codeOf(status);
}

Finished runToEnd(const std::vector<std::string>& argv, std::chrono::milliseconds deadline) {
  ChildProcess child(argv);
  const auto until = Clock::now() + deadline;
  while (!child.pump(std::chrono::milliseconds(100))) {
    if (Clock::now() > until) child.signal(SIGKILL);
  }
  return {*child.exitCode(), child.output()};
}

int runInForeground(const std::vector<std::string>& argv, Interrupts interrupts) {
  const auto pointers = pointersOf(argv);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      ::signal(number, interrupts == Interrupts::felt ? SIG_DFL : SIG_IGN);
    execvp(pointers[0], pointers.data());
    std::perror(pointers[0]);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return codeOf(status);
}

}  // namespace turnstile::harness
