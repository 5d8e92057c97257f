#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <system_error>

#include "loadtest/child_process.h"

namespace turnstile::harness {
namespace {

using std::chrono::milliseconds;

TEST(HarnessChild, GivesOutputAndExitCode) {
  const Finished finished =
      runToEnd({"sh", "-c", "echo out; echo err >&2; exit 3"}, milliseconds{10'000});
  EXPECT_EQ(finished.exitCode, 3);
  EXPECT_EQ(finished.output, "out\nerr\n");
}

TEST(HarnessChild, ArgumentsReachTheProgramUntouched) {
  EXPECT_EQ(runToEnd({"printf", "%s", "$(id); `id` \"x\" 'y'"}, milliseconds{10'000}).output,
            "$(id); `id` \"x\" 'y'");
}

TEST(HarnessChild, IsKilledAtItsDeadline) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(runToEnd({"sleep", "60"}, milliseconds{100}).exitCode, 128 + SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{30});
}

TEST(HarnessChild, LeavesNoProcessWhenDroppedMidway) {
  pid_t pid = 0;
  {
    ChildProcess child({"sleep", "60"});
    pid = child.pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(HarnessChild, AMissingProgramIsAnErrorAtOnce) {
  EXPECT_THROW(ChildProcess({"no-such-program-anywhere"}), std::system_error);
}

}  // namespace
}  // namespace turnstile::harness
