// The port to etcd, as narrow as a lock needs it: leases, one transaction that queues a key and
// looks at the queue, and word of one key's deletion.
//
// Every call has a deadline (`coordinator-timeout-ms`). It throws BackendDown when nothing was done
// and BackendTimeout when that is not known: then let the lease die, and its key dies with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/watch.h"

namespace turnstile {

class Etcd {
 public:
  virtual ~Etcd() = default;

  using Lease = std::int64_t;
  struct Granted {
    Lease id = 0;
    std::chrono::seconds ttl{0};  // what the server made of the wish: it has a minimum
  };
  virtual Task<Granted> grant(std::chrono::seconds ttl) = 0;
  /// false: the lease is over.
  virtual Task<bool> keepAlive(Lease lease) = 0;
  virtual Task<> revoke(Lease lease) = 0;

  struct Key {
    std::string name;
    std::int64_t createRevision = 0;  // grows with every change of the whole store, never reused
  };
  struct Queue {
    std::int64_t revision = 0;  // of the store when this was read
    std::vector<Key> newest;    // at most two: the youngest key, and the one before it
  };
  /// Puts `key` unless it exists, and reads the end of its queue, in one transaction: being the
  /// youngest, `newest` is our key and then the one we have to wait for, if any. nullopt: it
  /// exists, or there is no such lease.
  virtual Task<std::optional<Queue>> putIfAbsent(std::string key, Lease lease,
                                                 std::string prefix) = 0;

  /// The end of the queue, leaving out what came after revision `upTo`.
  virtual Task<Queue> newest(std::string prefix, std::int64_t upTo) = 0;

  /// false: it was gone already.
  virtual Task<bool> remove(std::string key) = 0;
  virtual Task<> removeAll(std::string prefix) = 0;

  /// From now on. `revision` is that of the look which found the key: when the store has changed
  /// since then the watch nudges once it stands, because the deletion may be among the changes.
  /// (etcd would replay them from a given revision, but it does that for all watches together, ten
  /// times a second: too slow for a lock.) Never fails: without a connection the watch fires soon,
  /// unfulfilled.
  virtual std::shared_ptr<Watch> watchDeletion(const std::string& key, std::int64_t revision) = 0;
  /// Whoever waited has given up.
  virtual void unwatch(const std::shared_ptr<Watch>& watch) = 0;
};

}  // namespace turnstile
