// Every row of the HTTP contract: status, body, and an error that says what is allowed.
#include <gtest/gtest.h>

#include "locks/registry.h"
#include "tests/support/stack.h"

namespace turnstile::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expectError(const Answer& answer, int status, const std::string& says) {
  EXPECT_EQ(answer.status, status) << answer.body;
  EXPECT_TRUE(contains(answer.json["error"].asString(), says)) << answer.body;
  EXPECT_TRUE(contains(answer.head, "content-type: application/json")) << answer.head;
}

TEST(Lock, SellsTheLastSeatFirstAndSaysWhoSoldIt) {
  const std::string event = freshEvent(3);
  const Answer answer = request("POST", "/lock?strategy=redis-lua&user=ann&event=" + event);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.outcome(), "sold");
  EXPECT_EQ(answer.json["event"].asString(), event);
  EXPECT_EQ(answer.seat(), 3);
  EXPECT_EQ(answer.json["remaining"].asInt(), 2);
  EXPECT_EQ(answer.json["strategy"].asString(), "redis-lua");
  EXPECT_TRUE(answer.json["instance"].asString().starts_with("app-")) << answer.body;
  EXPECT_TRUE(answer.json["fence"].isIntegral()) << answer.body;
}

TEST(Lock, TakesGetAsWell) {
  EXPECT_EQ(request("GET", "/lock?event=" + freshEvent(1)).outcome(), "sold");
}

TEST(Lock, UsesTheConfiguredStrategyWhenNoneIsNamed) {
  const Answer answer = request("POST", "/lock?event=" + freshEvent(1));
  EXPECT_EQ(answer.json["strategy"].asString(), "redis-lua") << answer.body;
}

TEST(Lock, SellsFromTheStockThatWasNamed) {
  const std::string event = freshEvent(5);
  EXPECT_EQ(request("POST", "/lock?strategy=redis-set-ex-lua&stock=mysql&event=" + event).status, 200);
  for (const Json::Value& store : audit(event)["stores"])
    EXPECT_EQ(store["sold"].asInt(), store["store"].asString() == "mysql" ? 1 : 0) << store;
}

TEST(Lock, AnswersConflictWhenSoldOut) {
  const std::string event = freshEvent(1);
  EXPECT_EQ(request("POST", "/lock?event=" + event).status, 200);
  const Answer answer = request("POST", "/lock?event=" + event);
  EXPECT_EQ(answer.status, 409) << answer.body;
  EXPECT_EQ(answer.outcome(), "sold_out");
}

TEST(Lock, AnswersBusyWithRetryAfterWhenTheLockIsHeldTooLong) {
  const std::string event = freshEvent(1);
  redis("redis-main", {"SET", "lock:" + event, "someone-else", "PX", "20000"});
  const Answer answer = sell("strategy=redis-set-ex-lua&wait=100&event=" + event);
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_EQ(answer.outcome(), "busy");
  EXPECT_TRUE(contains(answer.head, "retry-after:")) << answer.head;
  EXPECT_EQ(audit(event)["sold"].asInt(), 0);
}

TEST(Lock, RefusesAnUnknownStrategyAndListsTheKnownOnes) {
  const Answer answer = request("POST", "/lock?strategy=wishful&event=" + freshEvent(1));
  expectError(answer, 400, "unknown strategy 'wishful'");
  for (const StrategySpec& spec : catalogue())
    EXPECT_TRUE(contains(answer.body, spec.name)) << spec.name << " is not offered";
}

TEST(Lock, DoesNotKnowAnEventThatWasNotCreated) {
  expectError(request("POST", "/lock?event=nowhere"), 404, "PUT /events/nowhere");
}

TEST(Lock, RefusesNamesThatAreTooLongOrHaveStrangeCharacters) {
  expectError(request("POST", "/lock?event=" + std::string(65, 'x')), 400, "1 to 64 characters");
  expectError(request("POST", "/lock?event=a%20b"), 400, "1 to 64 characters");
  expectError(request("POST", "/lock?event="), 400, "1 to 64 characters");
  expectError(request("POST", "/lock?user=%27%3B--&event=demo"), 400, "1 to 64 characters");
}

TEST(Lock, RefusesAStockTheStrategyDoesNotHave) {
  expectError(request("POST", "/lock?stock=paper&event=demo"), 400, "redis or mysql");
  expectError(request("POST", "/lock?strategy=redis-lua&stock=mysql&event=demo"), 400, "allowed: redis");
}

TEST(Lock, RefusesAParameterItDoesNotKnow) {
  expectError(request("POST", "/lock?stratgy=none&event=demo"), 400, "allowed: event, strategy");
}

TEST(Lab, IsClosedWithoutTheAdminToken) {
  for (const char* parameter : {"hold=1", "fault=after-acquire:throw", "nested=1", "ttl=100", "wait=1",
                                "fencing=off"})
    expectError(request("POST", std::string("/lock?event=demo&") + parameter), 403, "admin token");
}

TEST(Lab, RefusesNumbersOutOfRangeAndUnknownFaults) {
  expectError(sell("event=demo&hold=-1"), 400, "from 0 to");
  expectError(sell("event=demo&ttl=0"), 400, "from 1 to");
  expectError(sell("event=demo&wait=99999999999999999999"), 400, "from 0 to");
  expectError(sell("event=demo&fault=nowhere:throw"), 400, "points: after-acquire");
  expectError(sell("event=demo&fault=after-acquire:explode"), 400, "actions: throw");
  expectError(sell("event=demo&fault=after-acquire:pause-99999999"), 400, "at most");
}

TEST(Lab, TurnsAnInjectedExceptionIntoA500ThatNamesThePoint) {
  const std::string event = freshEvent(1);
  expectError(sell("strategy=redis-set-ex-lua&fault=after-acquire:throw&event=" + event), 500,
              "after-acquire");
  EXPECT_EQ(sell("strategy=redis-set-ex-lua&wait=500&event=" + event).outcome(), "sold")
      << "the lock was not released";
}

TEST(Events, NeedTheAdminTokenToBeCreated) {
  expectError(request("PUT", "/events/x", "{\"stock\":1}"), 403, "admin token");
}

TEST(Events, RefuseABodyThatIsNotAStock) {
  for (const char* body : {"{\"stock\":-1}", "{\"stock\":\"many\"}", "{}", "not json", "[]",
                           "{\"stock\":99999999999}"})
    expectError(request("PUT", "/events/x", body, true), 400, "{\"stock\":N}");
}

TEST(Events, AuditWhatTheContractNames) {
  const std::string event = freshEvent(7);
  request("POST", "/lock?event=" + event);
  const Answer answer = request("GET", "/events/" + event);
  EXPECT_EQ(answer.status, 200) << answer.body;
  const Json::Value& found = answer.json;
  EXPECT_EQ(found["event"].asString(), event);
  EXPECT_EQ(found["stock"].asInt(), 7);
  EXPECT_EQ(found["remaining"].asInt(), 6);
  EXPECT_EQ(found["sold"].asInt(), 1);
  EXPECT_EQ(found["distinct_seats"].asInt(), 1);
  EXPECT_EQ(found["double_sold"].asInt(), 0);
  EXPECT_EQ(found["oversold"].asInt(), 0);
  EXPECT_EQ(found["lost"].asInt(), 0);
  EXPECT_EQ(found["verdict"].asString(), "safe");
}

TEST(Events, AreForgottenByAReset) {
  const std::string event = freshEvent(2);
  sell("event=" + event);
  resetEvent(event, 5);
  const Json::Value found = audit(event);
  EXPECT_EQ(found["sold"].asInt(), 0) << found;
  EXPECT_EQ(found["remaining"].asInt(), 5) << found;
}

TEST(Events, AreNotFoundWhenTheyWereNeverCreated) {
  expectError(request("GET", "/events/never-created"), 404, "unknown event");
  expectError(request("GET", "/events/demo?stock=paper"), 400, "redis");
}

TEST(Audit, SeesASeatThatVanishedWithoutASale) {
  const std::string event = freshEvent(5);
  redis("redis-main", {"RPUSH", "event:{" + event + "}:ledger", "", "4"});  // a count, and nobody's name
  const Json::Value found = audit(event);
  EXPECT_EQ(found["lost"].asInt(), 1) << found;
  EXPECT_EQ(found["verdict"].asString(), "lost") << found;
}

TEST(Strategies, AreListedWithTheirPromises) {
  const Answer answer = request("GET", "/strategies");
  EXPECT_EQ(answer.status, 200);
  ASSERT_EQ(answer.json["strategies"].size(), catalogue().size());
  for (const Json::Value& one : answer.json["strategies"]) {
    const StrategySpec* spec = findStrategy(one["name"].asString());
    ASSERT_NE(spec, nullptr) << one;
    EXPECT_EQ(one["promises"].size(), spec->promises.size());
    EXPECT_FALSE(one["summary"].asString().empty());
  }
  EXPECT_EQ(answer.json["points"].size(), kPoints.size());
}

TEST(Health, AnswersConstantJsonToPing) {
  EXPECT_EQ(request("GET", "/ping").body, R"({"ping":"pong"})");
  EXPECT_EQ(request("GET", "/healthz").status, 200);
}

TEST(Health, ShowsEachBackendInReadyz) {
  const Answer answer = request("GET", "/readyz");
  EXPECT_EQ(answer.status, 200) << answer.body;
  for (const char* backend : {"redis-main", "redis-node-1", "redis-node-5", "mysql"})
    EXPECT_EQ(answer.json["backends"][backend].asString(), "up") << answer.body;
}

TEST(Health, CountsSalesInMetrics) {
  const double before = metric("turnstile_sales_total", "redis-lua");
  sell("strategy=redis-lua&event=" + freshEvent(1));
  EXPECT_EQ(metric("turnstile_sales_total", "redis-lua"), before + 1);
}

TEST(Routes, SayWhatExistsWhenAPathOrMethodDoesNot) {
  expectError(request("GET", "/nowhere", {}, false, 1), 404, "POST /lock");
  expectError(request("DELETE", "/lock", {}, false, 1), 405, "POST /lock");
}

}  // namespace
}  // namespace turnstile::test
