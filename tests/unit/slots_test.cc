// Slots: so many at once, the others in order, and who gives up leaves the queue.
#include "app/slots.h"

#include <gtest/gtest.h>
#include <trantor/net/EventLoopThread.h>

#include <future>

namespace turnstile {
namespace {

class SlotsTest : public testing::Test {
 protected:
  SlotsTest() { thread_.run(); }

  template <class Coroutine>
  void start(Coroutine coroutine) {
    thread_.getLoop()->queueInLoop([coroutine] { drogon::async_run(coroutine); });
  }

  template <class T>
  T get(std::future<T> future) {
    if (future.wait_for(std::chrono::seconds(10)) != std::future_status::ready)
      throw std::runtime_error("nothing happened for 10 s");
    return future.get();
  }

  trantor::EventLoopThread thread_;
};

TEST_F(SlotsTest, AreGivenInOrderOfArrival) {
  auto slots = std::make_shared<Slots>(1);
  auto order = std::make_shared<std::string>();
  auto done = std::make_shared<std::promise<std::string>>();
  for (const char who : {'a', 'b', 'c', 'd'})
    start([=]() -> Task<> {
      const auto slot = co_await slots->take(Millis{5000});
      if (!slot) co_return;
      const auto pause = std::make_shared<Wakeup>();
      co_await pause->wait(Millis{5});
      *order += who;
      if (who == 'd') done->set_value(*order);
    });
  EXPECT_EQ(get(done->get_future()), "abcd");
}

TEST_F(SlotsTest, AreNoMoreThanSaidAndComeBack) {
  auto slots = std::make_shared<Slots>(2);
  auto done = std::make_shared<std::promise<bool>>();
  start([=]() -> Task<> {
    {
      const auto first = co_await slots->take(Millis{10});
      const auto second = co_await slots->take(Millis{10});
      const auto third = co_await slots->take(Millis{10});
      if (!first || !second || third) {
        done->set_value(false);
        co_return;
      }
    }
    const auto again = co_await slots->take(Millis{10});
    const auto andAgain = co_await slots->take(Millis{10});
    done->set_value(again && andAgain);
  });
  EXPECT_TRUE(get(done->get_future()));
}

TEST_F(SlotsTest, WhoGivesUpIsNotServedLater) {
  auto slots = std::make_shared<Slots>(1);
  auto done = std::make_shared<std::promise<bool>>();
  auto gaveUp = std::make_shared<Wakeup>();
  start([=]() -> Task<> {
    const auto slot = co_await slots->take(Millis{10});
    co_await gaveUp->wait(Millis{5000});
  });
  start([=]() -> Task<> {
    const auto never = co_await slots->take(Millis{10});
    gaveUp->wake();
    const auto now = co_await slots->take(Millis{5000});
    done->set_value(!never && now);
  });
  EXPECT_TRUE(get(done->get_future()));
}

}  // namespace
}  // namespace turnstile
