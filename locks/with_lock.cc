#include "locks/with_lock.h"

#include <trantor/utils/Logger.h>

#include <random>

#include "app/errors.h"

namespace turnstile {

struct Lease::State {
  Recipe recipe;
  LockDriver& driver;
  std::shared_ptr<const LockRequest> request;
  Grant grant;
  TimePoint validUntil;  // by Clock::now(); max: no end
  bool refused = false;  // a renewal was
  bool done = false;
  std::shared_ptr<Wakeup> stop{};  // of the renewal, where there is one
};

namespace {

TimePoint endOf(const Grant& grant, TimePoint asked) {
  return grant.validFor > Millis{0} ? asked + grant.validFor : TimePoint::max();
}

Millis left(TimePoint until, TimePoint now) {
  return std::max(Millis{0}, std::chrono::ceil<Millis>(until - now));
}

// No reply to an attempt: it may have been granted. Take it back, and say that nothing was sold.
Task<> takeBack(LockDriver& driver, const LockRequest& request) {
  Grant maybe;
  maybe.owner = request.owner;
  try {
    co_await driver.release(request, maybe);
  } catch (const std::exception& error) {
    LOG_DEBUG << "lock " << request.name << " left to expire: " << error.what();
  }
}

Task<std::optional<Grant>> tryOnce(const Recipe& recipe, LockDriver& driver,
                                   const LockRequest& request) {
  recipe.metrics.attempts.add();
  std::string unanswered;
  try {
    auto grant = co_await driver.tryAcquire(request);
    (grant ? recipe.metrics.granted : recipe.metrics.refused).add();
    co_return grant;
  } catch (const BackendTimeout& timeout) {
    unanswered = timeout.backend;
  }
  if (driver.canTakeBack()) co_await takeBack(driver, request);
  throw BackendDown(unanswered, "no reply to an attempt to lock; nothing was sold");
}

}  // namespace

Task<> LockDriver::awaitRelease(const LockRequest& request, Millis atMost) {
  // Random, so that contenders of several instances do not march in step.
  static thread_local std::minstd_rand random{std::random_device{}()};
  const Millis pause{std::uniform_int_distribution<>(1, 4)(random)};
  co_await request.turn->awaitLocalRelease(std::min(atMost, pause));
}

Task<bool> LockDriver::renew(const LockRequest& request, const Grant& grant) {
  (void)request, (void)grant;
  co_return true;
}

Task<std::optional<Lease>> acquire(Recipe recipe, LockDriver& driver, LockRequest asked) {
  const auto request = std::make_shared<LockRequest>(std::move(asked));
  const TimePoint start = recipe.clock.now();
  const TimePoint until = std::min(start + request->wait, request->deadline);
  std::optional<Turn> turn;
  // Whoever holds the lock already must not queue behind those who wait for it.
  if (driver.queuesItself() || request->reentry)
    turn = Turns::unqueued(request->name);
  else
    turn = co_await recipe.turns.take(request->name, left(until, start));
  if (!turn) co_return std::nullopt;
  request->turn = &*turn;
  for (;;) {
    const TimePoint sent = recipe.clock.now();
    auto grant = co_await tryOnce(recipe, driver, *request);
    const TimePoint now = recipe.clock.now();
    if (grant) {
      recipe.metrics.wait.record(now - start);
      request->turn = nullptr;
      co_return Lease(recipe, driver, request, std::move(*grant), sent);
    }
    ++request->refusals;
    if (driver.releasesWhenRefused()) {
      co_await takeBack(driver, *request);  // as printed: the refused caller's finally runs, and it returns
      break;
    }
    if (now >= until) break;
    if (request->refusals == 1) co_await request->lab.pass(Point::beforeWait);
    co_await driver.awaitRelease(*request, left(until, now));
  }
  co_await driver.abandon(*request);
  co_return std::nullopt;
}

Lease::Lease(const Recipe& recipe, LockDriver& driver, std::shared_ptr<const LockRequest> request,
             Grant grant, TimePoint asked) {
  const Millis every = driver.renewEvery(*request);
  const TimePoint validUntil = endOf(grant, asked);
  state_ = std::make_shared<State>(
      State{recipe, driver, std::move(request), std::move(grant), validUntil});
  if (every > Millis{0}) {
    state_->stop = std::make_shared<Wakeup>();
    drogon::async_run([state = state_, every]() -> Task<> { co_await keepRenewing(state, every); });
  }
}

Lease::~Lease() {
  if (!state_ || state_->done) return;
  LOG_ERROR << "lease of " << state_->request->name << " destroyed unreleased";
  state_->recipe.metrics.leaked.add();
  disown();
}

std::uint64_t Lease::fence() const { return state_->grant.fence; }

std::optional<int> Lease::count() const { return state_->grant.count; }

bool Lease::lost() const {
  return state_->refused || state_->recipe.clock.now() >= state_->validUntil ||
         !state_->driver.stillHeld(*state_->request);
}

void Lease::disown() {
  state_->done = true;
  if (state_->stop) state_->stop->wake();
}

Task<> Lease::release() {
  const auto state = state_;
  const LockRequest& request = *state->request;
  disown();
  // A wake-up runs when this step is over: once the first release was sent.
  const bool handsOn = state->driver.handsOn(request);
  if (handsOn) state->recipe.turns.released(request.name);
  const int most = state->driver.releaseAttempts();
  bool answered = false;
  for (int attempt = 1; attempt <= most && !answered; ++attempt) {
    try {
      co_await state->driver.release(request, state->grant);
      if (attempt == 1) co_await request.lab.pass(Point::unlockReply);  // only one reply gets lost
      answered = true;
    } catch (const BackendTimeout& error) {
      LOG_DEBUG << "lock " << request.name << ", release " << attempt << ": " << error.what();
    } catch (const std::exception& error) {
      LOG_DEBUG << "lock " << request.name << " not released: " << error.what();
      break;
    }
  }
  if (!answered) state->recipe.metrics.releaseFailed.add();
  if (!handsOn) state->recipe.turns.released(request.name);
}

Task<> Lease::keepRenewing(std::shared_ptr<State> state, Millis every) {
  while (!co_await state->stop->wait(every) && !state->done) {
    const TimePoint sent = state->recipe.clock.now();
    try {
      if (co_await state->driver.renew(*state->request, state->grant))
        state->validUntil = endOf(state->grant, sent);
      else
        state->refused = true;
    } catch (const std::exception& error) {
      // Not known: the next tick asks again, and validUntil tells the holder meanwhile.
      LOG_DEBUG << "renewal of " << state->request->name << ": " << error.what();
    }
    if (state->refused) co_return;
  }
}

}  // namespace turnstile
