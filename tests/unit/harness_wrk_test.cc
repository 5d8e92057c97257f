#include <gtest/gtest.h>

#include <algorithm>

#include "loadtest/plan.h"
#include "loadtest/wrk.h"
#include "loadtest/wrk_output.h"

namespace turnstile::harness {
namespace {

const char* const kReport =
    "Running 12s test @ http://127.0.0.1:8080\n  2 threads and 64 connections\nRequests/sec:  "
    "52689.91\n\n"
    "TURNSTILE "
    "{\"seconds\":1.516989,\"requests\":79930,\"issued\":79993,\"answers\":{\"sold\":79000,\"sold_"
    "out\":5,"
    "\"busy\":920,\"unknown\":3,\"error\":2},\"socket_errors\":{\"connect\":1,\"read\":2,\"write\":"
    "3,\"timeout\":4},"
    "\"latency_ms\":{\"mean\":1.582,\"max\":12.877,\"percentiles\":[[50,0.724],[99,7.566]]},"
    "\"first_error\":\"502 {\\u0022error\\u0022:\\u0022redis\\u0022}\",\"seats\":[7,6,5]}\n";

TEST(HarnessWrkOutput, GivesEveryFigureOfTheReport) {
  const ClientCount count = parseWrkOutput(kReport);
  EXPECT_DOUBLE_EQ(count.seconds, 1.516989);
  EXPECT_EQ(count.requests, 79930);
  EXPECT_EQ(count.inFlight(), 63);
  EXPECT_EQ(count.sold, 79000);
  EXPECT_EQ(count.soldOut, 5);
  EXPECT_EQ(count.busy, 920);
  EXPECT_EQ(count.unknown, 3);
  EXPECT_EQ(count.error, 2);
  EXPECT_EQ(count.connectErrors, 1);
  EXPECT_EQ(count.readErrors, 2);
  EXPECT_EQ(count.writeErrors, 3);
  EXPECT_EQ(count.timeouts, 4);
  EXPECT_DOUBLE_EQ(count.latency.at(99), 7.566);
  EXPECT_DOUBLE_EQ(count.latency.max, 12.877);
  EXPECT_EQ(count.firstError, "502 {\"error\":\"redis\"}");
  EXPECT_EQ(count.seats, (std::vector<long>{7, 6, 5}));
}

std::string complaintAbout(const std::string& output) {
  try {
    parseWrkOutput(output);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(HarnessWrkOutput, WithoutAReportItRepeatsWhatWrkSaid) {
  EXPECT_NE(complaintAbout("unable to connect to 127.0.0.1:8080 Connection refused\n")
                .find("Connection refused"),
            std::string::npos);
  EXPECT_NE(complaintAbout("").find("nothing"), std::string::npos);
}

TEST(HarnessWrkOutput, ABrokenReportIsAnErrorNotZeros) {
  EXPECT_NE(complaintAbout("TURNSTILE {\"seconds\":1.5,\n"), "");
  EXPECT_NE(complaintAbout("TURNSTILE {\"seconds\":\"fast\"}\n"), "");
  EXPECT_NE(complaintAbout("TURNSTILE []\n"), "");
}

TEST(HarnessWrkArgv, NamesStrategyAndEventAfterTheDashes) {
  WrkOrder order;
  order.script = "loadtest/lock.lua";
  order.url = "http://127.0.0.1:8080";
  order.strategy = "redis-lua";
  order.event = "cmp-redis-lua";
  order.stockKind = "mysql";
  order.collectSeats = true;
  const auto argv = argvOf(order);
  const std::vector<std::string> tail(std::find(argv.begin(), argv.end(), "--"), argv.end());
  EXPECT_EQ(tail, (std::vector<std::string>{"--", "redis-lua", "cmp-redis-lua", "stock=mysql",
                                            "seats=on"}));
}

TEST(HarnessWrkArgv, TheCeilingGoesThroughTheSameScript) {
  WrkOrder order;
  order.script = "loadtest/lock.lua";
  order.strategy = kPing;
  const auto argv = argvOf(order);
  EXPECT_NE(std::find(argv.begin(), argv.end(), "loadtest/lock.lua"), argv.end());
  EXPECT_EQ(argv.back(), kPing);
}

TEST(HarnessWrkArgv, NeverAsksForMoreThreadsThanConnections) {
  WrkOrder order;
  order.connections = 1;
  const auto argv = argvOf(order);
  EXPECT_NE(std::find(argv.begin(), argv.end(), "-t1"), argv.end());
}

}  // namespace
}  // namespace turnstile::harness
