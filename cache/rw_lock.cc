// No stale read: the cache is only ever filled under a read lock, and a write is done and
// acknowledged under the write lock, so between a reader's look at the database and its fill no
// write can happen. A hit takes no lock: what is in the cache was put there by the rule. Two belts
// beside the lock, for a holder that lost it (frozen longer than the TTL): a fill is refused when
// its reader is no longer one, and a write that lost its lock sends all readers away before it is
// acknowledged.
#include "app/errors.h"
#include "cache/product_policy.h"
#include "locks/redis_rw_lock.h"
#include "locks/with_lock.h"

namespace turnstile::product_policies {
namespace {

class RwLock final : public ProductPolicy {
 public:
  explicit RwLock(const Backends& backends)
      : backends_(backends),
        cache_(backends, "rw-lock"),
        readLock_(backends.clock, backends.redis, RedisRwLock::Mode::read),
        writeLock_(backends.clock, backends.redis, RedisRwLock::Mode::write),
        lockMetrics_(backends.metrics.of("product:rw-lock")) {}

  Task<ProductAnswer> read(ProductRead request) override {
    std::optional<Cached> cached = co_await cache_.store.read(request.id);
    if (cached && !request.pastCache)
      co_return ProductAnswer::from(ProductAnswer::Source::cache, std::move(cached->product));
    const LockRequest lock = lockRequest(request.id, "#read", request.deadline);
    const auto body = [&](const Lease& lease) -> Task<ProductAnswer> {
      return fill(request, lock, lease);
    };
    const auto again = [&](const Lease&) -> Task<ProductAnswer> {
      const auto inner = co_await withLock(reentry(), readLock_, lock, body);
      co_return inner.value_or(ProductAnswer{});
    };
    std::optional<ProductAnswer> answer;
    if (request.lab.nested())
      answer = co_await withLock(recipe(), readLock_, lock, again);
    else
      answer = co_await withLock(recipe(), readLock_, lock, body);
    co_return answer.value_or(ProductAnswer{});
  }

  Task<std::optional<std::uint64_t>> write(ProductWrite request) override {
    const LockRequest lock = lockRequest(request.id, "#write", request.deadline);
    const auto body = [&](const Lease& lease) -> Task<std::uint64_t> {
      return writeAndForget(request, lock, lease);
    };
    const auto again = [&](const Lease&) -> Task<std::optional<std::uint64_t>> {
      return withLock(reentry(), writeLock_, lock, body);
    };
    if (request.lab.nested()) {
      const auto outer = co_await withLock(recipe(), writeLock_, lock, again);
      co_return outer.value_or(std::nullopt);
    }
    co_return co_await withLock(recipe(), writeLock_, lock, body);
  }

 private:
  Recipe recipe() { return {backends_.clock, queue_, lockMetrics_}; }
  // Who holds the lock already must not queue behind one who waits for it.
  Recipe reentry() { return {backends_.clock, noQueue_, lockMetrics_}; }

  LockRequest lockRequest(const std::string& id, const char* queue, TimePoint deadline) {
    LockRequest lock;
    lock.name = "rw:{" + id + "}" + queue;
    lock.owner = backends_.owners.next();
    lock.ttl = backends_.config.cacheLockTtl;
    lock.wait = std::chrono::floor<Millis>(deadline - backends_.clock.now());
    lock.deadline = deadline;
    return lock;
  }

  Task<ProductAnswer> fill(const ProductRead& request, const LockRequest& lock,
                           const Lease& lease) {
    std::optional<Cached> cached = co_await cache_.store.read(request.id);
    if (cached && !request.pastCache)
      co_return ProductAnswer::from(ProductAnswer::Source::cache, std::move(cached->product));
    std::optional<Product> product = co_await cache_.table.read(request.id, Millis{0});
    if (!product) co_return ProductAnswer::from(ProductAnswer::Source::absent, {});
    co_await request.lab.pass(Point::beforeFill);
    Cached entry;
    entry.product = product->json;
    entry.left = backends_.config.cacheTtl;
    const std::string readers = RedisRwLock::readersKey(lock.name.substr(0, lock.name.find('#')));
    const bool filled =
        co_await cache_.store.writeIfMember(request.id, std::move(entry), readers, lock.owner);
    // Not a reader any more: a write may have been acknowledged since, so what was read is not an
    // answer.
    if (!filled || lease.lost()) co_return ProductAnswer{};
    co_return ProductAnswer::from(ProductAnswer::Source::database, std::move(product->json));
  }

  Task<std::uint64_t> writeAndForget(const ProductWrite& request, const LockRequest& lock,
                                     const Lease& lease) {
    const std::uint64_t version =
        co_await cache_.table.write(request.id, request.name, request.price);
    co_await request.lab.pass(Point::afterWrite);
    if (lease.lost()) co_await writeLock_.reset(lock.name);
    co_await cache_.forget(request.id);
    co_return version;
  }

  const Backends& backends_;
  ReadThrough cache_;
  RedisRwLock readLock_, writeLock_;
  StrategyMetrics& lockMetrics_;
  Turns queue_{true};
  Turns noQueue_{false};
};

}  // namespace

ProductPolicySpec rw_lock() {
  return {
      .name = "rw-lock",
      .summary = "fills under a read lock, writes under the write lock: no stale read",
      .make = [](const Backends& backends) { return std::make_unique<RwLock>(backends); },
  };
}

}  // namespace turnstile::product_policies
