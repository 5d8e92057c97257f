// One rebuild of one key: read the database, write the cache. Who may do it, when, and how many at
// once is what the policies differ in.
#pragma once

#include "app/backends.h"
#include "cache/cache_metrics.h"
#include "cache/cached.h"
#include "cache/product_table.h"
#include "locks/lab.h"

namespace turnstile {

class Rebuild {
 public:
  /// `staleFor`: how long after it stopped being fresh an entry may still be served.
  Rebuild(const Backends& backends, CacheStore& store, CacheMetrics& metrics,
          Millis staleFor = Millis{0})
      : backends_(backends),
        store_(store),
        metrics_(metrics),
        table_(backends.mysql),
        staleFor_(staleFor) {}

  /// The entry as it is now cached. A cache that cannot be written costs the next reader a rebuild,
  /// not this one its answer. Throws BackendDown when the database is.
  Task<Cached> run(std::string key, Lab lab = {});

  /// The database's part alone.
  Task<Cached> read(std::string key);

 private:
  Task<> store(std::string key, Cached entry);

  const Backends& backends_;
  CacheStore& store_;
  CacheMetrics& metrics_;
  ProductTable table_;
  Millis staleFor_;
};

}  // namespace turnstile
