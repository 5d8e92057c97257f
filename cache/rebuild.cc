#include "cache/rebuild.h"

#include <trantor/utils/Logger.h>

namespace turnstile {

Task<Cached> Rebuild::read(std::string key) {
  const Config& config = backends_.config;
  const TimePoint start = backends_.clock.now();
  const CacheMetrics::Reading counted(metrics_);
  std::optional<Product> product;
  try {
    product = co_await table_.read(key, config.cacheRebuild);
  } catch (...) {
    metrics_.dbFailed.add();
    throw;
  }
  Cached entry;
  entry.absent = !product;
  if (product) entry.product = std::move(product->json);
  entry.left = product ? config.cacheTtl : config.cacheAbsentTtl;
  entry.cost = std::chrono::ceil<Millis>(backends_.clock.now() - start);
  co_return entry;
}

Task<> Rebuild::store(std::string key, Cached entry) {
  const Millis staleFor =
      entry.absent ? Millis{0} : staleFor_;  // news of a new product must not wait
  try {
    co_await store_.write(key, std::move(entry), staleFor);
  } catch (const std::exception& error) {
    LOG_DEBUG << "cache of " << key << " not written: " << error.what();
  }
}

Task<Cached> Rebuild::run(std::string key, Lab lab) {
  const Cached entry = co_await read(key);
  co_await lab.pass(Point::beforeFill);
  co_await store(std::move(key), entry);
  co_return entry;
}

}  // namespace turnstile
