// Of all requests in this process that want the same thing at the same time, one fetches it and the
// others get what it got, its exception included. Safe from any thread; waiters resume on their own
// loop.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/wakeup.h"

namespace turnstile {

template <class Result>
class SingleFlight {
 public:
  using Fetch = std::function<Task<Result>()>;

  /// nullopt: the one who fetches did not end within `atMost`. The fetch itself is not cut short by
  /// that: it has deadlines of its own.
  Task<std::optional<Result>> join(std::string key, Millis atMost, Fetch fetch) {
    const Seat seat = board(key);
    const std::shared_ptr<Flight> flight = seat.flight;
    if (seat.leads) {
      try {
        flight->result = co_await fetch();
      } catch (...) {
        flight->failure = std::current_exception();
      }
      land(key, *flight);
    } else {
      const auto wakeup = std::make_shared<Wakeup>();
      if (!hasLanded(*flight, wakeup)) {
        const bool inTime = co_await wakeup->wait(atMost);
        if (!inTime) co_return std::nullopt;
      }
    }
    if (flight->failure) std::rethrow_exception(flight->failure);
    co_return flight->result;
  }

 private:
  struct Flight {
    std::vector<std::shared_ptr<Wakeup>> waiters;
    std::optional<Result> result;
    std::exception_ptr failure;
    bool landed = false;
  };
  struct Seat {
    std::shared_ptr<Flight> flight;
    bool leads;
  };

  Seat board(const std::string& key) {
    const std::lock_guard guard(mutex_);
    auto& flight = flights_[key];
    const bool leads = !flight;
    if (leads) flight = std::make_shared<Flight>();
    return {flight, leads};
  }

  // false: `wakeup` is woken when it does.
  bool hasLanded(Flight& flight, const std::shared_ptr<Wakeup>& wakeup) {
    const std::lock_guard guard(mutex_);
    if (!flight.landed) flight.waiters.push_back(wakeup);
    return flight.landed;
  }

  void land(const std::string& key, Flight& flight) {
    std::vector<std::shared_ptr<Wakeup>> waiters;
    {
      const std::lock_guard guard(mutex_);
      flights_.erase(key);
      flight.landed = true;
      waiters.swap(flight.waiters);
    }
    for (const auto& waiter : waiters) waiter->wake();
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace turnstile
