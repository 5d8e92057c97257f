#include "app/drogon_channels.h"

#include <drogon/HttpAppFramework.h>

#include <algorithm>

namespace turnstile {
namespace {

constexpr Millis kKeepIdle{30'000};
constexpr double kSweepEverySeconds = 1.0;
constexpr int kMostLooks = 100;
constexpr Millis kBetweenLooks{1};

}  // namespace

void DrogonChannels::start() {
  {
    const std::lock_guard guard(mutex_);
    if (subscriber_) return;
    subscriber_ = drogon::app().getFastRedisClient(redis_.name())->newSubscriber();
  }
  trantor::EventLoop::getEventLoopOfCurrentThread()->runEvery(kSweepEverySeconds,
                                                              [this] { sweep(); });
}

void DrogonChannels::listen(const std::string& channel, const std::string& message,
                            const std::shared_ptr<Wakeup>& listener) {
  const std::lock_guard guard(mutex_);
  Channel& entry = channels_[channel];
  entry.lastUsed = clock_.now();
  entry.byMessage[message].push_back({listener, entry.state == Channel::State::live});
}

Task<bool> DrogonChannels::ready(std::string channel, std::string message,
                                 std::shared_ptr<Wakeup> listener) {
  bool mayAsk = false;
  {
    const std::lock_guard guard(mutex_);
    const Listener* found = find(channel, message, listener);
    if (found && found->fromTheStart) co_return true;
    const Channel::State state = channels_[channel].state;
    mayAsk = state != Channel::State::leaving;
    if (state == Channel::State::unknown) subscribe(channel);
  }
  if (!mayAsk) {
    co_await clock_.sleep(kBetweenLooks);  // until the sweep has seen the old subscription off
    co_return false;
  }
  const bool live = co_await confirmed();
  const std::lock_guard guard(mutex_);
  Channel& entry = channels_[channel];
  if (live && entry.state == Channel::State::asked) entry.state = Channel::State::live;
  if (Listener* found = find(channel, message, listener)) found->fromTheStart = live;
  co_return false;
}

void DrogonChannels::leave(const std::string& channel, const std::string& message,
                           const std::shared_ptr<Wakeup>& listener) {
  const std::lock_guard guard(mutex_);
  const auto entry = channels_.find(channel);
  if (entry == channels_.end()) return;
  const auto group = entry->second.byMessage.find(message);
  if (group == entry->second.byMessage.end()) return;
  std::erase_if(group->second, [&](const Listener& one) { return one.wakeup.lock() == listener; });
  if (group->second.empty()) entry->second.byMessage.erase(group);
}

// With mutex_ held.
void DrogonChannels::subscribe(const std::string& channel) {
  channels_[channel].state = Channel::State::asked;
  subscriber_->subscribe(channel, [this](const std::string& from, const std::string& message) {
    heard(from, message);
  });
}

// Drogon does not say when a subscription took effect. Commands of one connection are carried out
// in order, so once a channel that was asked for later has a subscriber, so have all earlier ones.
Task<bool> DrogonChannels::confirmed() {
  std::string mark;
  {
    const std::lock_guard guard(mutex_);
    mark = "turnstile:subscribed:" + id_ + ':' + std::to_string(++marks_);
    subscriber_->subscribe(mark, [](const std::string&, const std::string&) {});
  }
  bool seen = false;
  std::exception_ptr failure;
  try {
    for (int look = 0; look < kMostLooks && !seen; ++look) {
      if (look > 0) co_await clock_.sleep(kBetweenLooks);
      const Reply receivers = co_await redis_.command({"PUBLISH", mark, "?"});
      seen = receivers.integer > 0;
    }
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard guard(mutex_);
    subscriber_->unsubscribe(mark);
  }
  if (failure) std::rethrow_exception(failure);
  co_return seen;
}

void DrogonChannels::heard(const std::string& channel, const std::string& message) {
  const std::lock_guard guard(mutex_);
  const auto entry = channels_.find(channel);
  if (entry == channels_.end()) return;
  const auto group = entry->second.byMessage.find(message);
  if (group == entry->second.byMessage.end()) return;
  for (const Listener& listener : group->second)
    if (const auto wakeup = listener.wakeup.lock())
      wakeup->wake();  // queued, so never runs in here
}

// A channel is unsubscribed in one sweep and forgotten in the next: hiredis 0.14 would lose the
// callback of one that is subscribed again before the server has confirmed that it was
// unsubscribed.
void DrogonChannels::sweep() {
  const std::lock_guard guard(mutex_);
  const TimePoint now = clock_.now();
  for (auto entry = channels_.begin(); entry != channels_.end();) {
    Channel& channel = entry->second;
    for (auto group = channel.byMessage.begin(); group != channel.byMessage.end();) {
      std::erase_if(group->second, [](const Listener& one) { return one.wakeup.expired(); });
      group = group->second.empty() ? channel.byMessage.erase(group) : std::next(group);
    }
    if (channel.state == Channel::State::leaving) {
      channel.state = Channel::State::unknown;
    } else if (channel.byMessage.empty() && now - channel.lastUsed > kKeepIdle) {
      if (channel.state == Channel::State::unknown) {
        entry = channels_.erase(entry);
        continue;
      }
      subscriber_->unsubscribe(entry->first);
      channel.state = Channel::State::leaving;
    }
    ++entry;
  }
}

DrogonChannels::Listener* DrogonChannels::find(const std::string& channel,
                                               const std::string& message,
                                               const std::shared_ptr<Wakeup>& listener) {
  const auto entry = channels_.find(channel);
  if (entry == channels_.end()) return nullptr;
  const auto group = entry->second.byMessage.find(message);
  if (group == entry->second.byMessage.end()) return nullptr;
  for (Listener& one : group->second)
    if (one.wakeup.lock() == listener) return &one;
  return nullptr;
}

}  // namespace turnstile
