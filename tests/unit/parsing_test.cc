// What callers send: query strings, names, numbers, faults, addresses.
#include <gtest/gtest.h>

#include "app/config.h"
#include "app/errors.h"
#include "controllers/params.h"
#include "locks/lab.h"

namespace turnstile {
namespace {

std::string join(std::string_view query) {
  std::string all;
  eachParameter(query, [&](std::string_view name, std::string_view value) {
    all.append(name).append("=").append(value).append(";");
  });
  return all;
}

TEST(Parameters, AreSplitAndDecoded) {
  EXPECT_EQ(join("a=1&b=two%20words&c=x+y"), "a=1;b=two words;c=x y;");
  EXPECT_EQ(join(""), "");
  EXPECT_EQ(join("&&a&=v&b="), "a=;=v;b=;");
}

TEST(Names, AreShortAndPlain) {
  EXPECT_EQ(checkedName("event", "a.B_9:@-"), "a.B_9:@-");
  for (const std::string& bad : {std::string(), std::string(65, 'a'), std::string("a b"),
                                 std::string("a\"b"), std::string("ü"), std::string("a\0b", 3)})
    EXPECT_THROW(checkedName("event", bad), BadRequest) << bad;
}

TEST(Numbers, AreWholeAndInRange) {
  EXPECT_EQ(checkedNumber("n", "7", 0, 10), 7);
  for (const char* bad : {"", "x", "7x", "-1", "11", "1e3", " 7", "99999999999999999999"})
    EXPECT_THROW(checkedNumber("n", bad, 0, 10), BadRequest) << bad;
}

TEST(Faults, AreReadInOrder) {
  const auto faults = parseFaults("after-acquire:throw,before-write:pause-250,unlock-reply:drop");
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].point, Point::afterAcquire);
  EXPECT_EQ(faults[1].action.pause, Millis{250});
  EXPECT_EQ(faults[2].action.kind, Action::Kind::drop);
}

TEST(Faults, SayWhatIsAllowed) {
  for (const char* bad : {"nowhere:throw", "after-acquire", "after-acquire:", "after-acquire:pause-",
                          "after-acquire:pause-x", ":", "after-acquire:throw,,"})
    try {
      parseFaults(bad);
      ADD_FAILURE() << bad << " was accepted";
    } catch (const BadRequest& error) {
      EXPECT_NE(std::string(error.what()).find("after-acquire"), std::string::npos) << error.what();
    }
}

TEST(Addresses, AreHostAndPort) {
  EXPECT_EQ(parseAddress("x", "127.0.0.1:6379").port, 6379);
  EXPECT_EQ(parseAddresses("x", "a:1,b:2").size(), 2U);
  EXPECT_TRUE(parseAddresses("x", "").empty());
  for (const char* bad : {"", "host", "host:", ":1", "host:0", "host:65536", "host:x"})
    EXPECT_THROW(parseAddress("x", bad), std::invalid_argument) << bad;
}

TEST(Settings, HideSecrets) {
  Config config;
  config.adminToken = "s3cret-token";
  config.mysqlPassword = "s3cret-password";
  const std::string text = describe(config);
  EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
  EXPECT_NE(text.find("admin-token = (set)"), std::string::npos) << text;
  EXPECT_NE(text.find("strategy = redis-lua"), std::string::npos) << text;
}

}  // namespace
}  // namespace turnstile
