// Clients that nobody here wrote, on the same locks: while one side holds it, the other does not get it, both
// ways. A missing client fails the test and says what to install.
#include <gtest/gtest.h>

#include <cstdlib>

#include "loadtest/child_process.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

constexpr milliseconds kLongest{15'000};

std::string here() { return std::string(std::getenv("TURNSTILE_ROOT")) + "/tests/interop"; }

std::string nodeModules() {
  const char* cache = std::getenv("TURNSTILE_CACHE");
  const char* home = std::getenv("HOME");
  return (cache ? std::string(cache) : std::string(home ? home : "") + "/.cache/turnstile") + "/interop";
}

// A foreign client, and one of our strategies that takes the same lock.
struct Pair {
  std::string name;
  std::string strategy;
  std::string lockPrefix;
  std::vector<std::string> (*command)();  // of the client, before: lock name, what, ms
};

std::vector<std::string> redisPy() {
  // Debian's own: another python3 in the PATH does not see Debian's packages.
  return {"/usr/bin/python3", here() + "/redis_py_lock.py", std::to_string(portOf("redis-main"))};
}

std::vector<std::string> nodeRedlock() {
  std::string ports;
  for (int i = 1; i <= 5; ++i)
    ports += (i > 1 ? "," : "") + std::to_string(portOf("redis-node-" + std::to_string(i)));
  return {"node", here() + "/node_redlock.mjs", nodeModules(), ports};
}

class Foreign : public testing::TestWithParam<Pair> {
 protected:
  std::vector<std::string> command(const std::string& what, int ms) const {
    auto argv = GetParam().command();
    argv.insert(argv.end(), {GetParam().lockPrefix + event_, what, std::to_string(ms)});
    return argv;
  }
  std::string sale(const std::string& more) const {
    return "strategy=" + GetParam().strategy + "&event=" + event_ + more;
  }
  // Says whether the client gets it now.
  std::string foreignTry() const {
    const auto done = harness::runToEnd(command("try", 300), kLongest);
    EXPECT_EQ(done.exitCode, 0) << done.output;
    return done.output;
  }
  const std::string event_ = freshEvent(10);
};

TEST_P(Foreign, ClientHoldsAndWeDoNotGetIt) {
  harness::ChildProcess client(command("hold", 3000));
  bool ended = false;
  ASSERT_TRUE(eventually([&] {
    ended = ended || client.pump(milliseconds{10});
    return ended || client.output().find("held") != std::string::npos;
  }, kLongest));
  ASSERT_FALSE(ended) << client.output();
  EXPECT_EQ(sell(sale("&wait=300"), 1).outcome(), "busy");
  EXPECT_EQ(audit(event_)["sold"].asInt(), 0);
  EXPECT_EQ(sell(sale("&wait=10000"), 1).outcome(), "sold") << "it did not get the lock after its release";
  ASSERT_TRUE(eventually([&] { return client.pump(milliseconds{10}); }, kLongest));
  EXPECT_EQ(client.exitCode(), 0) << client.output();
  EXPECT_NE(client.output().find("released"), std::string::npos)
      << "our sale must not have taken the lock away from it\n" << client.output();
}

TEST_P(Foreign, ClientDoesNotGetItWhileWeHold) {
  auto holder = sellLater(sale("&hold=4000"), 1);
  const std::string service = GetParam().strategy == "redis-redlock" ? "redis-node-1" : "redis-main";
  ASSERT_TRUE(eventually([&] {
    return redis(service, {"EXISTS", GetParam().lockPrefix + event_}) == "1";
  }));
  EXPECT_EQ(foreignTry(), "refused\n");
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_EQ(foreignTry(), "got\n");
}

INSTANTIATE_TEST_SUITE_P(Locks, Foreign,
                         testing::Values(Pair{"RedisPyLock", "redis-set-ex-lua", "lock:", redisPy},
                                         Pair{"NodeRedlock", "redis-redlock", "redlock:", nodeRedlock}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace turnstile::test
