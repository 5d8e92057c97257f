// One rebuild an instance: of all requests of this process that miss, the first reads the database
// and the others get what it got. No lock, no round trip; the database sees as many readers as
// there are instances.
#include "app/backends.h"
#include "cache/policy.h"
#include "cache/rebuild.h"
#include "cache/single_flight.h"

namespace turnstile::cache_policies {
namespace {

class LocalSingleFlight final : public CachePolicy {
 public:
  LocalSingleFlight(const Backends& backends, CacheMetrics& metrics)
      : clock_(backends.clock),
        store_(backends.redis, "local-single-flight"),
        rebuild_(backends, store_, metrics) {}

  Task<CacheAnswer> get(CacheRequest request) override {
    std::optional<Cached> entry = co_await store_.read(request.key);
    if (entry) co_return CacheAnswer::of(CacheAnswer::Source::cache, std::move(*entry));
    const Millis atMost = std::chrono::ceil<Millis>(request.deadline - clock_.now());
    const auto fetch = [this, request]() { return rebuildUnlessThere(request.key, request.lab); };
    co_return CacheAnswer::rebuilt(co_await flights_.join(request.key, atMost, fetch));
  }

  Task<Millis> expire(std::string key) override {
    co_await store_.drop(std::move(key));
    co_return Millis{0};
  }

 private:
  // A request that missed before the last flight landed may lead the next one: it looks again.
  Task<Cached> rebuildUnlessThere(std::string key, Lab lab) {
    std::optional<Cached> entry = co_await store_.read(key);
    if (entry) co_return std::move(*entry);
    co_return co_await rebuild_.run(std::move(key), std::move(lab));
  }

  Clock& clock_;
  CacheStore store_;
  Rebuild rebuild_;
  SingleFlight<Cached> flights_;
};

}  // namespace

CachePolicySpec local_single_flight() {
  return {
      .name = "local-single-flight",
      .summary = "one rebuild an instance; its other requests wait for that one",
      .promised = {.least = 1, .most = 1, .perInstance = true},
      .make =
          [](const Backends& backends, CacheMetrics& metrics) {
            return std::make_unique<LocalSingleFlight>(backends, metrics);
          },
  };
}

}  // namespace turnstile::cache_policies
