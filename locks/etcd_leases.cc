#include "locks/etcd_leases.h"

#include <trantor/utils/Logger.h>

#include <algorithm>

namespace turnstile {
namespace {

constexpr Millis kForgottenAfter{60'000};

}  // namespace

Task<std::shared_ptr<EtcdLease>> EtcdLeases::borrow() {
  {
    const std::lock_guard guard(mutex_);
    while (!idle_.empty()) {
      auto lease = std::move(idle_.back());
      idle_.pop_back();
      if (alive(*lease)) co_return lease;
      lease->dropped = true;  // we were frozen, or etcd was away
    }
  }
  const TimePoint asked = clock_.now();
  const Etcd::Granted granted = co_await etcd_.grant(ttl_);
  auto lease = std::make_shared<EtcdLease>(granted.id, granted.ttl, asked + granted.ttl, asked);
  drogon::async_run([this, lease]() -> Task<> { co_await keep(lease); });
  co_return lease;
}

void EtcdLeases::giveBack(std::shared_ptr<EtcdLease> lease) {
  if (!alive(*lease)) return drop(std::move(lease));
  const std::lock_guard guard(mutex_);
  lease->idleSince = clock_.now();
  idle_.push_back(std::move(lease));
}

void EtcdLeases::drop(std::shared_ptr<EtcdLease> lease) {
  if (lease->dropped.exchange(true)) return;
  drogon::async_run([this, lease = std::move(lease)]() -> Task<> {
    try {
      co_await etcd_.revoke(lease->id);
    } catch (const std::exception& error) {
      LOG_DEBUG << "lease left to expire: " << error.what();
    }
  });
}

Task<> EtcdLeases::keep(std::shared_ptr<EtcdLease> lease) {
  for (;;) {
    co_await clock_.sleep(lease->ttl / 3);
    if (lease->dropped) co_return;
    if (takeIfForgotten(lease)) co_return drop(lease);
    const TimePoint asked = clock_.now();
    bool kept = true;
    try {
      kept = co_await etcd_.keepAlive(lease->id);
      if (kept) lease->validUntil = asked + lease->ttl;
    } catch (const std::exception& error) {
      LOG_DEBUG << "keep-alive of a lease: "
                << error.what();  // validUntil tells the holder meanwhile
    }
    if (!kept || !alive(*lease)) lease->dropped = true;
  }
}

bool EtcdLeases::takeIfForgotten(const std::shared_ptr<EtcdLease>& lease) {
  const std::lock_guard guard(mutex_);
  const auto found = std::find(idle_.begin(), idle_.end(), lease);
  if (found == idle_.end() || clock_.now() - lease->idleSince < kForgottenAfter) return false;
  idle_.erase(found);
  return true;
}

}  // namespace turnstile
