#include "app/clock.h"

#include <trantor/net/EventLoop.h>

namespace turnstile {

TimePoint SystemClock::wall() const {
  return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now()) + skew_;
}

TimePoint SystemClock::now() const {
  const auto sinceBoot = std::chrono::steady_clock::now().time_since_epoch();
  return TimePoint{std::chrono::duration_cast<Micros>(sinceBoot)};
}

Task<> SystemClock::sleep(Millis duration) {
  auto* loop = trantor::EventLoop::getEventLoopOfCurrentThread();
  co_await drogon::sleepCoro(loop, std::chrono::duration<double>(duration).count());
}

}  // namespace turnstile
