// What the cache holds for one key, and how it lies in Redis. An entry may outlive its freshness:
// the last `staleFor` of its time to live is for policies that would rather serve it stale than
// wait. Freshness is what Redis says is left (PTTL), so no two clocks are ever compared.
#pragma once

#include <optional>
#include <string>

#include "app/redis.h"

namespace turnstile {

struct Cached {
  bool absent = false;  // the database has no such product: worth remembering, for a short time
  std::string product;  // JSON; empty when absent
  Millis cost{0};       // how long the database took
  Millis left{0};       // still fresh for; 0 or less: stale

  bool fresh() const { return left > Millis{0}; }
};

class CacheStore {
 public:
  /// Each policy has keys of its own ("cache:mutex:p1"): they do not warm each other's cache.
  CacheStore(Redis& redis, const std::string& policy)
      : redis_(redis), prefix_("cache:" + policy + ":") {}

  /// nullopt: a miss.
  Task<std::optional<Cached>> read(std::string key);
  /// `entry.left` is how long it is fresh.
  Task<> write(std::string key, Cached entry, Millis staleFor);
  /// Only while `member` is in the sorted set `set` with an end to come: whoever lost its right to
  /// write does not. false: not written.
  Task<bool> writeIfMember(std::string key, Cached entry, std::string set, std::string member);
  Task<> drop(std::string key);
  /// Lets an entry end its time to live in `left`. false: there is none.
  Task<bool> shorten(std::string key, Millis left);

 private:
  Redis& redis_;
  std::string prefix_;
};

}  // namespace turnstile
