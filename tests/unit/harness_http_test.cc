#include <gtest/gtest.h>

#include "loadtest/http_client.h"
#include "loadtest/service.h"

namespace turnstile::harness {
namespace {

TEST(HarnessHttp, ReadsABodyByLengthByChunksAndToTheEnd) {
  EXPECT_EQ(parseAnswer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc").body, "ab");
  EXPECT_EQ(parseAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                        "chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n")
                .body,
            "abc0123456789");
  EXPECT_EQ(parseAnswer("HTTP/1.1 404 Not Found\r\n\r\nall of it").body, "all of it");
  EXPECT_EQ(parseAnswer("HTTP/1.1 404 Not Found\r\n\r\n").status, 404);
}

TEST(HarnessHttp, AnAnswerCutShortIsAnErrorNotAShortAnswer) {
  EXPECT_THROW(parseAnswer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), std::runtime_error);
  EXPECT_THROW(parseAnswer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"),
               std::runtime_error);
  EXPECT_THROW(parseAnswer(""), std::runtime_error);
  EXPECT_THROW(parseAnswer("SSH-2.0-OpenSSH\r\n"), std::runtime_error);
}

TEST(HarnessHttp, ARefusedConnectionSaysWhichCall) {
  try {
    send({.port = 1, .target = "/ping"});
    FAIL() << "nothing listens on port 1";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("/ping"), std::string::npos) << e.what();
  }
}

TEST(HarnessAudit, ReadsTheServicesAnswerAndRefusesHalfOfIt) {
  const Audit audit = parseAudit(
      R"({"event":"e","stock":10,"remaining":7,"sold":4,"distinct_seats":3,"double_sold":1,"verdict":"oversold","double_seats":[9]})");
  EXPECT_EQ(audit.sold, 4);
  EXPECT_EQ(audit.doubleSold, 1);
  EXPECT_EQ(audit.doubleSeats, (std::vector<long>{9}));
  EXPECT_THROW(parseAudit(R"({"stock":10,"remaining":7})"), std::runtime_error);
  EXPECT_THROW(parseAudit("<html>502</html>"), std::runtime_error);
}

TEST(HarnessAudit, WithAStoreThatCouldNotBeReadIsNoAudit) {
  try {
    parseAudit(
        R"({"stock":10,"remaining":10,"sold":0,"distinct_seats":0,"double_sold":0,"verdict":"unknown","unreachable":["redis"]})");
    FAIL() << "zeros of a store that is down are not figures";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("redis"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace turnstile::harness
