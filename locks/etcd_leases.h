// The leases this process queues with. A key is named after its lease, so each request in a queue
// needs a lease of its own; granting one per sale would cost a synced write. So leases are borrowed
// and given back, and kept alive in the background: as many as there were requests in queues at
// once, a few when requests take turns in process first. One that nobody borrowed for a minute is
// revoked.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "app/clock.h"
#include "app/etcd.h"

namespace turnstile {

struct EtcdLease {
  EtcdLease(Etcd::Lease number, Millis time, TimePoint until, TimePoint now)
      : id(number), ttl(time), validUntil(until), idleSince(now) {}
  const Etcd::Lease id;
  const Millis ttl;
  std::atomic<TimePoint> validUntil;  // the server cannot have ended it before
  std::atomic<bool> dropped{false};   // not kept alive any more
  TimePoint idleSince;                // while in the pool
};

class EtcdLeases {
 public:
  EtcdLeases(Etcd& etcd, Clock& clock, std::chrono::seconds ttl)
      : etcd_(etcd), clock_(clock), ttl_(ttl) {}

  Task<std::shared_ptr<EtcdLease>> borrow();
  /// REQUIRES: no key is attached to it any more.
  void giveBack(std::shared_ptr<EtcdLease> lease);
  /// It may still hold a key: the server deletes that with the lease, at once or after its TTL.
  void drop(std::shared_ptr<EtcdLease> lease);

  bool alive(const EtcdLease& lease) const {
    return !lease.dropped && clock_.now() < lease.validUntil.load();
  }

 private:
  Task<> keep(std::shared_ptr<EtcdLease> lease);
  bool takeIfForgotten(const std::shared_ptr<EtcdLease>& lease);

  Etcd& etcd_;
  Clock& clock_;
  const std::chrono::seconds ttl_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<EtcdLease>> idle_;  // the last given back is the next borrowed
};

}  // namespace turnstile
