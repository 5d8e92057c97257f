// Foreign clients take turns with us: etcd's own `etcdctl lock`, and ZooKeeper's command line with
// nodes as Curator's InterProcessMutex names them.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <sstream>

#include "loadtest/child_process.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

using harness::ChildProcess;
using harness::runToEnd;

std::vector<std::string> etcdctl(const std::vector<std::string>& words) {
  std::vector<std::string> argv{"env", "ETCDCTL_API=3", "etcdctl",
                                "--endpoints=127.0.0.1:" + std::to_string(portOf("etcd"))};
  argv.insert(argv.end(), words.begin(), words.end());
  return argv;
}

int keysUnder(const std::string& prefix) {
  std::istringstream lines(
      runToEnd(etcdctl({"get", "--prefix", "--keys-only", prefix}), milliseconds{10'000}).output);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(prefix) ? 1 : 0;
  return count;
}

// What zkCli.sh starts; the script itself is in a package of its own that brings nothing else we
// need.
std::string zkCli(const std::vector<std::string>& words) {
  std::vector<std::string> argv{"java",
                                "-XX:TieredStopAtLevel=1",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                                "-cp",
                                "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar",
                                "org.apache.zookeeper.ZooKeeperMain",
                                "-server",
                                "127.0.0.1:" + std::to_string(portOf("zookeeper"))};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto done = runToEnd(argv, milliseconds{60'000});
  EXPECT_EQ(done.exitCode, 0) << done.output;
  return done.output;
}

std::string firstMatch(const std::string& text, const std::string& pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? found.str() : std::string();
}

TEST(EtcdctlLock, HoldsUsOffUntilItLetsGo) {
  const std::string event = freshEvent(5);
  const std::string name = "turnstile/locks/" + event;
  ChildProcess foreign(etcdctl({"lock", name}));
  ASSERT_TRUE(eventually([&] {
    foreign.pump(milliseconds{20});
    return !foreign.output().empty();
  }));

  EXPECT_EQ(sell("event=" + event + "&strategy=etcd&wait=300", 1).outcome(), "busy");
  auto waiting = sellLater("event=" + event + "&strategy=etcd&wait=15000", 2);
  EXPECT_TRUE(eventually([&] { return keysUnder(name + "/") == 2; })) << "we are not in its queue";
  EXPECT_EQ(audit(event)["sold"].asInt(), 0);

  foreign.signal(SIGINT);
  EXPECT_EQ(waiting.get().outcome(), "sold");
}

TEST(EtcdctlLock, WaitsUntilWeLetGo) {
  const std::string event = freshEvent(5);
  const std::string name = "turnstile/locks/" + event;
  auto holder = sellLater("event=" + event + "&strategy=etcd&hold=4000", 1);
  ASSERT_TRUE(eventually([&] { return keysUnder(name + "/") == 1; }));
  ChildProcess foreign(etcdctl({"lock", name}));
  ASSERT_TRUE(eventually([&] {
    foreign.pump(milliseconds{20});
    return keysUnder(name + "/") == 2;
  }));
  EXPECT_EQ(foreign.output(), "") << "it was let in while we held the lock";

  ASSERT_TRUE(eventually([&] {
    foreign.pump(milliseconds{20});
    return !foreign.output().empty();
  }));
  EXPECT_EQ(audit(event)["sold"].asInt(), 1) << "it was let in before we had sold";
  EXPECT_EQ(holder.get().outcome(), "sold");
  EXPECT_TRUE(foreign.output().starts_with(name + "/")) << foreign.output();
  foreign.signal(SIGINT);
  EXPECT_TRUE(eventually([&] { return foreign.pump(milliseconds{20}); }));
}

TEST(CuratorNodes, HoldUsOffUntilTheyAreRemoved) {
  const std::string event = freshEvent(5);
  const std::string directory = "/turnstile/locks/" + event;
  EXPECT_EQ(sell("event=" + event + "&strategy=zookeeper", 1).outcome(),
            "sold");  // makes the directory
  const std::string created = zkCli(
      {"create", "-s", directory + "/_c_6f3dd8a1-2c0b-4f43-8a53-0d5a3a3f5c11-lock-", "curator"});
  const std::string node = firstMatch(created, directory + "/_c_[0-9a-f-]+-lock-[0-9]{10}");
  ASSERT_NE(node, "") << created;

  EXPECT_EQ(sell("event=" + event + "&strategy=zookeeper&wait=300", 1).outcome(), "busy");
  auto waiting = sellLater("event=" + event + "&strategy=zookeeper&wait=19000", 2);
  zkCli({"delete", node});
  EXPECT_EQ(waiting.get().outcome(), "sold");
}

TEST(CuratorNodes, AreWhatOursLookLike) {
  const std::string event = freshEvent(5);
  const std::string directory = "/turnstile/locks/" + event;
  const double granted = metric("turnstile_lock_granted_total", "zookeeper");
  auto holder = sellLater("event=" + event + "&strategy=zookeeper&hold=8000", 1);
  ASSERT_TRUE(
      eventually([&] { return metric("turnstile_lock_granted_total", "zookeeper") > granted; }));
  const std::string uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
  const std::string ours = firstMatch(zkCli({"ls", directory}), "_c_" + uuid + "-lock-[0-9]{10}");
  ASSERT_NE(ours, "");
  const std::string stat = zkCli({"stat", directory + "/" + ours});
  EXPECT_EQ(firstMatch(stat, "ephemeralOwner = 0x0\\b"), "") << "not ephemeral\n" << stat;
  const Answer sold = holder.get();
  EXPECT_EQ(sold.outcome(), "sold");
  const std::string zxid = firstMatch(stat, "cZxid = 0x[0-9a-f]+");
  EXPECT_EQ(std::stoull(zxid.substr(zxid.find("0x")), nullptr, 16), sold.json["fence"].asUInt64())
      << "the fence is not the node's creation\n"
      << stat;
}

}  // namespace
}  // namespace turnstile::test
