// Keeping cache and database of one another's mind while products are read and written at the same
// time: GET and PUT /products/{id}?policy=…. A read is *stale* when it began after a write was
// acknowledged and returns an older version. docs/caches.md says which policy allows what.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/backends.h"
#include "cache/cached.h"
#include "cache/product_table.h"
#include "locks/lab.h"

namespace turnstile {

struct ProductRead {
  std::string id;
  TimePoint deadline;
  Lab lab;                 // passes Point::beforeFill
  bool pastCache = false;  // lab: as if it were a miss
};

struct ProductWrite {
  std::string id, name;
  int price = 0;
  TimePoint deadline;
  Lab lab;
};

struct ProductAnswer {
  enum class Source : std::uint8_t { cache, database, absent, busy };
  Source source = Source::busy;
  std::string product;  // JSON

  static ProductAnswer from(Source source, std::string product) {
    return {source, std::move(product)};
  }
};

class ProductPolicy {
 public:
  virtual ~ProductPolicy() = default;
  virtual Task<ProductAnswer> read(ProductRead request) = 0;
  /// The new version; nullopt: busy, nothing was written. BackendTimeout: written, perhaps, and the
  /// cache may not know: the write is not acknowledged.
  virtual Task<std::optional<std::uint64_t>> write(ProductWrite request) = 0;
};

struct ProductPolicySpec {
  std::string name{};
  std::string summary{};
  bool brokenOnPurpose = false;  // proves the checker; only with the admin token and the lab open
  std::function<std::unique_ptr<ProductPolicy>(const Backends&)> make{};
};
const std::vector<ProductPolicySpec>& productPolicies();
const ProductPolicySpec* findProductPolicy(std::string_view name);
/// Without those that are broken on purpose.
std::string productPolicyNames();

/// What the policies without a lock have in common: a hit is a hit; a miss reads the database and
/// fills the cache, and whatever was written in between is overwritten by what was read before it.
class ReadThrough {
 public:
  ReadThrough(const Backends& backends, const std::string& policy)
      : config_(backends.config),
        store(backends.redis, "product-" + policy),
        table(backends.mysql) {}
  Task<ProductAnswer> read(ProductRead request);
  /// Deletes from the cache after a write; a failure is a write nobody may call done.
  Task<> forget(std::string id);

 private:
  const Config& config_;

 public:
  CacheStore store;
  ProductTable table;
};

}  // namespace turnstile
