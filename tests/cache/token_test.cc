// A thousand callers across the moment the token is renewed. The issuer itself counts what it
// issued and the dead tokens it was shown: the service's word is not taken.
#include <gtest/gtest.h>

#include "loadtest/keep_alive.h"
#include "tests/cache/support.h"

namespace turnstile::test {
namespace {

using Clock = std::chrono::steady_clock;
using harness::KeepAlive;
using harness::Shot;

Json::Value issuerStats() {
  return request("GET", "/stats", {}, false, portOf("issuer") - portOf("nginx")).json;
}

struct Seen {
  long handedOut = 0, alive = 0, dead = 0, failed = 0;
  std::string firstFailure;
};

constexpr int kCallers = 1000;

// Each caller gets a token and uses it at once, on its own two connections, `rounds` times; after
// the first quarter of the calls `midway` happens.
Seen callAll(const std::string& policy, int rounds, const std::function<void()>& midway) {
  Seen seen;
  std::vector<int> ports(kCallers, portOf("nginx"));
  ports.insert(ports.end(), kCallers, portOf("issuer"));
  const std::string ask = harness::requestText("GET", "/token?policy=" + policy);
  std::vector<int> left(kCallers, rounds);
  bool past = false;
  KeepAlive* self = nullptr;
  KeepAlive clients(ports, [&](const Shot& shot) {
    const bool usedIt = shot.connection >= kCallers;
    const int caller = shot.connection % kCallers;
    if (usedIt) {
      shot.status == 200 ? ++seen.alive : shot.status == 401 ? ++seen.dead : ++seen.failed;
    } else if (shot.status == 200) {
      ++seen.handedOut;
      const std::string body(shot.body);
      const auto at = body.find("\"token\":\"") + 9;
      const std::string token = body.substr(at, body.find('"', at) - at);
      return self->send(kCallers + caller, harness::requestText("GET", "/use?token=" + token));
    } else {
      ++seen.failed;
    }
    if (seen.failed == 1 && seen.firstFailure.empty())
      seen.firstFailure = std::to_string(shot.status) + " " + std::string(shot.body);
    if (!past && seen.handedOut * 4 > long{kCallers} * rounds) past = true, midway();
    if (--left[static_cast<std::size_t>(caller)] > 0) self->send(caller, ask);
  });
  self = &clients;
  for (int caller = 0; caller < kCallers; ++caller) clients.send(caller, ask);
  EXPECT_TRUE(clients.run(Clock::now() + std::chrono::seconds{90}));
  EXPECT_TRUE(past);
  return seen;
}

void expire(const std::string& policy) {
  ASSERT_EQ(request("DELETE", "/token?policy=" + policy, {}, true).status, 200);
}

// A token of this policy that lives: the other policy may have killed the one it shares.
void freshToken(const std::string& policy) {
  expire(policy);
  ASSERT_TRUE(eventually(
      [&] { return request("GET", "/token?policy=" + policy).json["source"] == "issuer"; }));
}

TEST(Token, IsRefreshedOnceAndNobodyUsesADeadOneWithMutex) {
  freshToken("mutex");
  const Json::Value before = issuerStats();
  const Seen seen = callAll("mutex", 4, [] { expire("mutex"); });
  const Json::Value after = issuerStats();
  EXPECT_EQ(after["issued"].asInt() - before["issued"].asInt(), 1) << "refreshes across the fleet";
  EXPECT_EQ(after["refused"].asInt() - before["refused"].asInt(), 0)
      << "dead tokens the issuer was shown";
  EXPECT_EQ(seen.dead, 0);
  EXPECT_EQ(seen.failed, 0) << seen.firstFailure;
  EXPECT_EQ(seen.alive, 4 * kCallers);
}

TEST(Token, IsRefreshedByManyAndMostUseADeadOneWithNone) {
  freshToken("none");
  const Json::Value before = issuerStats();
  const Seen seen = callAll("none", 4, [] { expire("none"); });
  const Json::Value after = issuerStats();
  EXPECT_GT(after["issued"].asInt() - before["issued"].asInt(), 1);
  EXPECT_GT(after["refused"].asInt() - before["refused"].asInt(), 0);
  EXPECT_GT(seen.dead, 0);
}

TEST(Token, IssuerDownIsSaid) {
  freshToken("mutex");
  Outage outage("issuer");
  EXPECT_EQ(request("GET", "/token?policy=mutex").status, 200) << "the token at hand is still good";
  expire("mutex");
  const Answer answer = request("GET", "/token?policy=mutex");
  EXPECT_EQ(answer.status, 502) << answer.body;
  EXPECT_NE(answer.body.find("token-issuer"), std::string::npos) << answer.body;
}

}  // namespace
}  // namespace turnstile::test
