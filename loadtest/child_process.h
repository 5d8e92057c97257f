// A program run as a child, by argv, never through a shell. The child gets its own process group (a
// Ctrl-C meant for us does not cut its report short) and dies with us whatever happens; its output
// is captured up to a bound. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace turnstile::harness {

class ChildProcess {
 public:
  // Throws std::system_error when it cannot be started (no such program included).
  explicit ChildProcess(const std::vector<std::string>& argv);
  ~ChildProcess();  // kills and reaps it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Reads output for at most `atMost`; true once the child has ended.
  bool pump(std::chrono::milliseconds atMost);
  void signal(int number);

  const std::string& output() const { return output_; }  // stdout and stderr, in order of arrival
  std::optional<int> exitCode() const { return exitCode_; }  // 128 + n when signal n ended it
  pid_t pid() const { return pid_; }

 private:
  void reap();

  pid_t pid_ = -1;
  int pipe_ = -1;
  std::string output_;
  std::optional<int> exitCode_;
};

struct Finished {
  int exitCode;
  std::string output;
};

// Runs a program to its end, or kills it at the deadline (exit code 137).
Finished runToEnd(const std::vector<std::string>& argv, std::chrono::milliseconds deadline);

// With our own terminal as its output and in our process group: Ctrl-C reaches it too, so that it
// can clean up, unless it is itself the cleaning up and must not be cut short.
enum class Interrupts { felt, ignored };
int runInForeground(const std::vector<std::string>& argv, Interrupts interrupts = Interrupts::felt);

}  // namespace turnstile::harness
