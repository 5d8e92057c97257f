// Delete, write, delete, and once more a while later (cache-second-delete-ms): what a slow reader
// put back is gone by then. Stale for at most that long instead of a whole time to live; not
// "never". The last delete is behind the answer: an instance that dies before it leaves the old
// version where it is.
#include <atomic>

#include "cache/background.h"
#include "cache/product_policy.h"

namespace turnstile::product_policies {
namespace {

class DoubleDelete final : public ProductPolicy {
 public:
  explicit DoubleDelete(const Backends& backends)
      : clock_(backends.clock),
        delay_(backends.config.cacheSecondDelete),
        cache_(backends, "double-delete"),
        behind_(backends.clock) {}

  Task<ProductAnswer> read(ProductRead request) override { return cache_.read(std::move(request)); }

  Task<std::optional<std::uint64_t>> write(ProductWrite request) override {
    co_await cache_.forget(request.id);
    const std::uint64_t version =
        co_await cache_.table.write(request.id, request.name, request.price);
    co_await cache_.forget(request.id);
    // One for each write: a delete that is already waiting may come too soon for this one's
    // readers.
    behind_.start(request.id + '#' + std::to_string(++writes_),
                  [this, id = request.id]() { return deleteAgain(id); });
    co_return version;
  }

 private:
  Task<> deleteAgain(std::string id) {
    co_await clock_.sleep(delay_);
    co_await cache_.forget(std::move(id));
  }

  Clock& clock_;
  Millis delay_;
  ReadThrough cache_;
  Background behind_;
  std::atomic<std::uint64_t> writes_{0};
};

}  // namespace

ProductPolicySpec double_delete() {
  return {
      .name = "double-delete",
      .summary =
          "delete, write, delete, and delete again a little later: stale for that long at most",
      .make = [](const Backends& backends) { return std::make_unique<DoubleDelete>(backends); },
  };
}

}  // namespace turnstile::product_policies
