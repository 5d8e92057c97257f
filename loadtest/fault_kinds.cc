#include "loadtest/fault_kinds.h"

#include <signal.h>

#include <filesystem>
#include <stdexcept>

namespace turnstile::harness {
namespace {

using std::chrono::milliseconds;

const std::vector<int> kAll{1, 2, 3};
const std::vector<std::string> kNodes{"redis-node-1", "redis-node-2", "redis-node-3",
                                      "redis-node-4", "redis-node-5"};
const std::string kLastInstance = "app-3";

Judgement notStaged(const std::string& why) { return {Verdict::unknown, why, 0}; }

std::string told(const Answer& answer) {
  return answer.status == 0 ? answer.body : std::to_string(answer.status) + " " + answer.body;
}

// ---- no fault ---------------------------------------------------------------------------------

Judgement contention(Scene& scene) {
  scene.crowd(kAll, 30, 200);
  return scene.conclude();
}

Judgement oneInstance(Scene& scene) {
  scene.crowd({1}, 30, 200);
  return scene.conclude();
}

// ---- the holder fails -------------------------------------------------------------------------

// A fault at this point. Some points are passed only by a sale that finds nothing left.
Answer failAt(Scene& scene, const std::string& point, const std::string& action, int instance) {
  const std::string fault = "&fault=" + point + ":" + action;
  Answer first = scene.buy(fault, instance);
  if (first.outcome() != "sold") return first;
  scene.crowd({1}, 10, 1000);
  return scene.buy(fault, instance);
}

Judgement exception(Scene& scene) {
  Judgement found = notStaged("it passes no point of the lab");
  for (const std::string point : {"after-acquire", "before-write", "after-write"}) {
    if (!scene.passes(point)) continue;
    const Answer thrown = failAt(scene, point, "throw", 1);
    if (thrown.status != 500)
      return notStaged("no exception at " + point + ", but " + told(thrown));
    found = scene.conclude();
    if (found.verdict != Verdict::safe) break;
  }
  return found;
}

Judgement crashAt(Scene& scene, const std::string& point) {
  const Answer broken = failAt(scene, point, "crash", 3);
  if (broken.status != 0 || !eventually([&] { return !scene.bench().runs(kLastInstance); }))
    return notStaged("no crash at " + point + ", but " + told(broken));
  return scene.conclude();
}

// A strategy without a point of the lab is one command: its instance dies somewhere in a crowd.
Judgement crashInACrowd(Scene& scene) {
  auto crowd = std::async(std::launch::async, [&] { scene.crowd(kAll, 12, 50); });
  const bool selling = eventually([&] { return scene.sold() > 50; });
  scene.bench().kill(kLastInstance);
  crowd.get();
  return selling ? scene.conclude() : notStaged("the crowd did not buy");
}

Judgement crash(Scene& scene) {
  const std::string point = scene.firstOf({"after-acquire", "before-write", "after-write"});
  return point.empty() ? crashInACrowd(scene) : crashAt(scene, point);
}

// Where key and life are one command there is nothing between: as soon as it is held.
Judgement crashBeforeExpire(Scene& scene) {
  return crashAt(scene, scene.firstOf({"between-setnx-expire", "after-acquire"}));
}

// ---- the holder is late -----------------------------------------------------------------------

// While one is at work: a buyer who does not wait, then one who does.
void twoMore(Scene& scene, int instance) {
  scene.buy("&wait=0", instance);
  scene.buy("&wait=9000", instance);
}

Judgement overrun(Scene& scene) {
  // A session lives for 4 s, a lock here for 1.2.
  const bool session = scene.strategy().family == "coordinators";
  auto first = scene.holder(session ? "&hold=7000" : "&hold=3000", 1);
  twoMore(scene, 2);
  first.get();
  return scene.conclude();
}

Judgement freeze(Scene& scene) {
  const std::string point = scene.firstOf({"before-write", "after-acquire", "after-write"});
  auto first = scene.holder("&fault=" + point + ":pause-3000", 3);
  {
    const Frozen frozen(scene.bench(), kLastInstance);
    twoMore(scene, 1);
  }
  first.get();
  return scene.conclude();
}

// The first is done and about to release when its lock is over and a second has one. Its release
// must not be the second's: a third would be let in. Where compare and delete are one script, it
// stands just before that script.
Judgement pauseBeforeDelete(Scene& scene) {
  const std::string point = scene.firstOf({"between-compare-delete", "after-write"});
  auto first = scene.buyLater("&ttl=800&fault=" + point + ":pause-2500", 1);
  if (!eventually([&] { return scene.sold() == 1; })) return notStaged("the first did not sell");
  const long before = scene.granted();
  auto second = scene.buyLater("&ttl=20000&wait=9000&hold=4000", 2);
  first.get();
  if (!eventually([&] { return scene.granted() > before; }))
    return notStaged("the second was not let in");
  scene.buy("&wait=0", 3);
  second.get();
  return scene.conclude();
}

Judgement clockSkew(Scene& scene) {
  const Bench& bench = scene.bench();
  bench.kill(kLastInstance);
  bench.start(kLastInstance, {"TURNSTILE_CLOCK_SKEW_MS=3600000"});
  if (!eventually([&] { return bench.ready(3); }))
    return notStaged(kLastInstance + " sees not all backends");
  auto first = scene.holder("&ttl=20000&fault=before-write:pause-3000", 1);
  scene.buy("&wait=0", 3);
  first.get();
  Judgement found = scene.conclude();
  bench.kill(kLastInstance);
  return found;
}

// ---- replies and servers are lost -------------------------------------------------------------

// Without a lock there is no release: then it is the reply to the sale itself that is lost.
Judgement lostReply(Scene& scene) {
  if (scene.passes("unlock-reply")) {
    scene.buy("&fault=unlock-reply:drop", 1);
    return scene.conclude();
  }
  auto first = scene.holder("&fault=before-write:pause-3000", 1);
  {
    const Frozen silent(scene.bench(), "redis-main");
    first.get();
  }
  return scene.conclude();
}

std::string field(const std::string& info, const std::string& name) {
  const auto at = info.find(name + ":");
  return at == std::string::npos ? "" : info.substr(at, info.find('\r', at) - at);
}

void takeDown(Scene& scene, const std::vector<std::string>& servers) {
  for (const std::string& server : servers) scene.bench().kill(server);
  for (const int instance : kAll)
    for (const std::string& server : servers)
      if (!eventually([&] { return !scene.bench().sees(instance, server); }))
        throw std::runtime_error("app-" + std::to_string(instance) + " does not notice that " +
                                 server + " is gone");
}

void awaitSeen(Scene& scene, const std::vector<std::string>& servers) {
  for (const int instance : kAll)
    for (const std::string& server : servers)
      if (!eventually([&] { return scene.bench().sees(instance, server); }))
        throw std::runtime_error("app-" + std::to_string(instance) + " does not see " + server +
                                 " again");
}

void bringUp(Scene& scene, const std::vector<std::string>& servers) {
  for (const std::string& server : servers) scene.bench().start(server);
  awaitSeen(scene, servers);
}

// Main grants a lock that its replica, cut off, does not hear of, and dies. The replica's data then
// serve under main's address, as after a failover; the holder is still at work.
Judgement failover(Scene& scene) {
  const Bench& bench = scene.bench();
  const auto offset = [&](const std::string& of) {
    return field(bench.redis(of, {"INFO", "replication"}).value_or(""), "master_repl_offset");
  };
  const auto follow = [&](const std::string& who, const std::string& whom) {
    bench.redis(who, {"REPLICAOF", "127.0.0.1", std::to_string(bench.portOf(whom))});
  };
  const auto inStep = [&](const std::string& who) {
    return field(bench.redis(who, {"INFO", "replication"}).value_or(""), "master_link_status")
        .ends_with(":up");
  };
  if (!eventually([&] {
        return inStep("redis-replica") && offset("redis-main") == offset("redis-replica");
      }))
    return notStaged("the replica is not in step");
  bench.redis("redis-replica", {"REPLICAOF", "NO", "ONE"});  // cut off, and promoted
  auto first = scene.holder("&ttl=30000&fault=before-write:pause-11000", 1);
  takeDown(scene, {"redis-main"});
  std::filesystem::remove_all(bench.runDir() / "data" / "redis-main");
  bench.start("redis-main");
  follow("redis-main", "redis-replica");
  const bool moved = eventually([&] { return inStep("redis-main"); });
  bench.redis("redis-main", {"REPLICAOF", "NO", "ONE"});
  follow("redis-replica", "redis-main");
  if (!moved) return notStaged("the replica's data did not arrive");
  awaitSeen(scene, {"redis-main"});
  const Answer second = scene.buy("&wait=1500", 2);
  const bool inTime = first.wait_for(milliseconds{0}) == std::future_status::timeout;
  first.get();
  return inTime ? scene.conclude()
                : notStaged("the failover took longer than the holder's work; the second: " +
                            told(second));
}

Judgement whileDown(Scene& scene, const std::vector<std::string>& nodes) {
  takeDown(scene, nodes);
  scene.crowd(kAll, 6, 5, "&wait=500");
  bringUp(scene, nodes);
  return scene.conclude();
}

// A node that holds only locks comes back empty, as one without a file does; one that holds stock
// has a file. For a majority, two more nodes are away when the first takes its lock, and back when
// the second asks.
Judgement nodeRestart(Scene& scene) {
  if (scene.strategy().family == "segments") {
    auto crowd = std::async(std::launch::async, [&] { scene.crowd(kAll, 6, 30, "&wait=500"); });
    eventually([&] { return scene.sold() > 20; });
    scene.bench().kill(kNodes[2]);
    crowd.get();
    bringUp(scene, {kNodes[2]});
    return scene.conclude();
  }
  const std::string work = "&ttl=20000&fault=before-write:pause-12000";
  const std::vector<std::string> away{kNodes[3], kNodes[4]};
  takeDown(scene, away);
  const bool majority = scene.buy("&wait=500", 1).outcome() == "sold";
  if (!majority) bringUp(scene, away);
  auto first = scene.holder(work, 1);
  takeDown(scene, {kNodes[2]});
  std::filesystem::remove_all(scene.bench().runDir() / "data" / kNodes[2]);
  bringUp(scene, majority ? std::vector<std::string>{kNodes[2], kNodes[3], kNodes[4]}
                          : std::vector<std::string>{kNodes[2]});
  scene.buy("&wait=500", 2);
  const bool inTime = first.wait_for(milliseconds{0}) == std::future_status::timeout;
  first.get();
  return inTime ? scene.conclude() : notStaged("the restart took longer than the holder's work");
}

}  // namespace

const std::vector<FaultKind>& faultKinds() {
  static const std::vector<FaultKind> all{
      {"contention", "30 buyers on three instances until sold out, no fault", 200, contention},
      {"one-instance", "30 buyers on one instance until sold out, no fault", 200, oneInstance},
      {"exception", "the work throws, at each point of a sale", 10, exception},
      {"crash", "the instance that holds the lock is killed", 1000, crash},
      {"crash-before-expire", "killed when the lock is taken and may have no life yet", 10,
       crashBeforeExpire},
      {"overrun", "the work takes longer than the lock lives", 10, overrun},
      {"freeze", "the holder is frozen just before it writes, for longer than the lock lives", 10,
       freeze},
      {"pause-before-delete",
       "the holder pauses just before it releases, for longer than the lock lives", 10,
       pauseBeforeDelete},
      {"clock-skew", "the clock of one instance is an hour ahead", 10, clockSkew},
      {"lost-reply", "the command was carried out, the reply is lost", 10, lostReply},
      {"failover", "Redis dies, and a replica that has not heard of the lock takes over", 10,
       failover},
      {"node-down", "one of five Redis nodes is down", 100,
       [](Scene& s) { return whileDown(s, {kNodes[3]}); }},
      {"node-restart", "one of five Redis nodes is restarted", 500, nodeRestart},
      {"minority-down", "two of five Redis nodes are down", 100,
       [](Scene& s) {
         return whileDown(s, {kNodes[1], kNodes[4]});
       }},
      {"majority-down", "three of five Redis nodes are down", 100,
       [](Scene& s) {
         return whileDown(s, {kNodes[0], kNodes[2], kNodes[3]});
       }},
  };
  return all;
}

const std::vector<std::string>& faultSettings() {
  static const std::vector<std::string> all{"TURNSTILE_LOCK_TTL_MS=1200",
                                            "TURNSTILE_WATCHDOG_MS=1200",
                                            "TURNSTILE_REQUEST_DEADLINE_MS=30000"};
  return all;
}

void putBack(const Bench& bench) {
  std::vector<std::string> services{"redis-main", "redis-replica", "mariadb", "zookeeper", "etcd"};
  services.insert(services.end(), kNodes.begin(), kNodes.end());
  for (const int instance : kAll) services.push_back("app-" + std::to_string(instance));
  for (const std::string& service : services) {
    if (bench.runs(service))
      bench.signal(service, SIGCONT);
    else
      bench.start(service);
  }
  for (const int instance : kAll)
    if (!eventually([&] { return bench.ready(instance); }, milliseconds{30'000}))
      throw std::runtime_error("app-" + std::to_string(instance) +
                               " does not see every backend again");
}

}  // namespace turnstile::harness
