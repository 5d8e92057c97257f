// Write the database, then delete from the cache. A reader that read the database before the write
// and fills the cache after the delete leaves the old version there, until its time to live ends.
#include "cache/product_policy.h"

namespace turnstile::product_policies {
namespace {

class CacheAside final : public ProductPolicy {
 public:
  explicit CacheAside(const Backends& backends) : cache_(backends, "cache-aside") {}

  Task<ProductAnswer> read(ProductRead request) override { return cache_.read(std::move(request)); }

  Task<std::optional<std::uint64_t>> write(ProductWrite request) override {
    const std::uint64_t version =
        co_await cache_.table.write(request.id, request.name, request.price);
    co_await cache_.forget(request.id);
    co_return version;
  }

 private:
  ReadThrough cache_;
};

}  // namespace

ProductPolicySpec cache_aside() {
  return {
      .name = "cache-aside",
      .summary =
          "write the database, then delete from the cache; a slow reader can put the old version "
          "back",
      .make = [](const Backends& backends) { return std::make_unique<CacheAside>(backends); },
  };
}

}  // namespace turnstile::product_policies
