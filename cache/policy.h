// How a hot key is kept in Redis, and above all what happens in the moment it expires under load. A
// policy is one file here plus one line in cache/registry.cc; GET /cache/{key}?policy=… picks it,
// and docs/caches.md compares them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cached.h"
#include "locks/lab.h"

namespace turnstile {

struct Backends;
struct CacheMetrics;

struct CacheRequest {
  std::string key;
  TimePoint deadline;  // by Clock::now(): nobody waits longer
  Lab lab;             // passes Point::beforeFill in a rebuild that this request waits for
};

struct CacheAnswer {
  /// cache: fresh from Redis. stale: served past its time while another rebuilds. database: this
  /// request rebuilt it or waited for the one who did. busy: it waited in vain.
  enum class Source : std::uint8_t { cache, stale, database, busy };
  Source source = Source::busy;
  Cached entry;

  static CacheAnswer of(Source source, Cached entry) { return {source, std::move(entry)}; }
  /// Of a rebuild that was waited for: nullopt is busy.
  static CacheAnswer rebuilt(std::optional<Cached> entry);
};

class CachePolicy {
 public:
  virtual ~CachePolicy() = default;

  /// Throws BackendDown naming what is down. A cache that is down is the caller's business
  /// (cache/caches.h): no policy makes sense without it.
  virtual Task<CacheAnswer> get(CacheRequest request) = 0;

  /// Brings about the moment this policy is there for, now instead of in a TTL: the time until the
  /// entry is no longer good.
  virtual Task<Millis> expire(std::string key) = 0;
};

/// How many database reads one expiry costs, the fleet together. `perInstance` multiplies `most`.
struct ReadsPerExpiry {
  int least = 1;
  int most = 1;  // 0: no limit
  bool perInstance = false;
};

struct CachePolicySpec {
  std::string name{};
  std::string summary{};
  ReadsPerExpiry promised{};
  bool waits = true;         // some request waits for the rebuild
  bool servesStale = false;  // also when the database is down
  std::function<std::unique_ptr<CachePolicy>(const Backends&, CacheMetrics&)> make{};
};

/// In the order of the story.
const std::vector<CachePolicySpec>& cachePolicies();
/// "none, local-single-flight, …": for error messages.
std::string cachePolicyNames();

}  // namespace turnstile
