// Waiting inside one process: wake-ups are not lost, turns go in order, and who gives up leaves the queue.
#include "locks/turns.h"

#include <gtest/gtest.h>
#include <trantor/net/EventLoopThread.h>

#include <atomic>
#include <future>

namespace turnstile {
namespace {

class TurnsTest : public testing::Test {
 protected:
  TurnsTest() { thread_.run(); }

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

TEST_F(TurnsTest, AWakeBeforeTheWaitIsNotLost) {
  auto result = std::make_shared<std::promise<bool>>();
  start([result]() -> Task<> {
    auto wakeup = std::make_shared<Wakeup>();
    wakeup->wake();
    result->set_value(co_await wakeup->wait(Millis{5000}));
  });
  EXPECT_TRUE(get(result->get_future()));
}

TEST_F(TurnsTest, AWaitEndsByItself) {
  auto result = std::make_shared<std::promise<bool>>();
  start([result]() -> Task<> {
    auto wakeup = std::make_shared<Wakeup>();
    result->set_value(co_await wakeup->wait(Millis{10}));
  });
  EXPECT_FALSE(get(result->get_future()));
}

TEST_F(TurnsTest, AWakeFromAnotherThreadResumesOnTheWaitersLoop) {
  auto result = std::make_shared<std::promise<bool>>();
  auto wakeup = std::make_shared<Wakeup>();
  start([result, wakeup, loop = thread_.getLoop()]() -> Task<> {
    const bool woken = co_await wakeup->wait(Millis{5000});
    result->set_value(woken && loop->isInLoopThread());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  wakeup->wake();
  EXPECT_TRUE(get(result->get_future()));
}

TEST_F(TurnsTest, GoInOrderOfArrival) {
  auto turns = std::make_shared<Turns>(true);
  auto order = std::make_shared<std::string>();
  auto done = std::make_shared<std::promise<std::string>>();
  for (const char who : {'a', 'b', 'c', 'd'})
    start([=]() -> Task<> {
      const std::optional<Turn> turn = co_await turns->take("lock", Millis{5000});
      if (turn) *order += who;
      if (order->size() == 4) done->set_value(*order);
    });
  EXPECT_EQ(get(done->get_future()), "abcd");
}

TEST_F(TurnsTest, AreGivenUpInTimeAndDoNotBlockTheNext) {
  auto turns = std::make_shared<Turns>(true);
  auto done = std::make_shared<std::promise<std::string>>();
  start([=]() -> Task<> {
    std::optional<Turn> first = co_await turns->take("lock", Millis{1000});
    const std::optional<Turn> second = co_await turns->take("lock", Millis{10});  // must time out
    first.reset();
    const std::optional<Turn> third = co_await turns->take("lock", Millis{1000});
    done->set_value(std::string(second ? "got" : "gave up") + ", then " + (third ? "got" : "stuck"));
  });
  EXPECT_EQ(get(done->get_future()), "gave up, then got");
}

TEST_F(TurnsTest, OfDifferentLocksDoNotMeet) {
  auto turns = std::make_shared<Turns>(true);
  auto done = std::make_shared<std::promise<bool>>();
  start([=]() -> Task<> {
    const std::optional<Turn> one = co_await turns->take("one", Millis{0});
    const std::optional<Turn> two = co_await turns->take("two", Millis{0});
    done->set_value(one && two);
  });
  EXPECT_TRUE(get(done->get_future()));
}

TEST_F(TurnsTest, LetEveryoneContendWhenSwitchedOff) {
  auto turns = std::make_shared<Turns>(false);
  auto done = std::make_shared<std::promise<bool>>();
  start([=]() -> Task<> {
    const std::optional<Turn> one = co_await turns->take("lock", Millis{0});
    const std::optional<Turn> two = co_await turns->take("lock", Millis{0});
    done->set_value(one && two);
  });
  EXPECT_TRUE(get(done->get_future()));
}

TEST_F(TurnsTest, WakeTheContenderOnALocalRelease) {
  auto turns = std::make_shared<Turns>(true);
  auto done = std::make_shared<std::promise<bool>>();
  start([=]() -> Task<> {
    std::optional<Turn> turn = co_await turns->take("lock", Millis{0});
    turns->released("lock");
    done->set_value(co_await turn->awaitLocalRelease(Millis{5000}));
  });
  EXPECT_TRUE(get(done->get_future()));
}

}  // namespace
}  // namespace turnstile
