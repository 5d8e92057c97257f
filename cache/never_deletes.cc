// Broken on purpose: writes the database and forgets the cache. A checker of stale reads that does
// not find any here finds none anywhere. Never offered to a caller without the admin token and the
// lab open.
#include "cache/product_policy.h"

namespace turnstile::product_policies {
namespace {

class NeverDeletes final : public ProductPolicy {
 public:
  explicit NeverDeletes(const Backends& backends) : cache_(backends, "never-deletes") {}

  Task<ProductAnswer> read(ProductRead request) override { return cache_.read(std::move(request)); }

  Task<std::optional<std::uint64_t>> write(ProductWrite request) override {
    co_return co_await cache_.table.write(request.id, request.name, request.price);
  }

 private:
  ReadThrough cache_;
};

}  // namespace

ProductPolicySpec never_deletes() {
  return {
      .name = "never-deletes",
      .summary = "broken on purpose, to prove the checker",
      .brokenOnPurpose = true,
      .make = [](const Backends& backends) { return std::make_unique<NeverDeletes>(backends); },
  };
}

}  // namespace turnstile::product_policies
