// No care at all: every miss reads the database. In the moment a hot key expires, every request
// under way is a miss: the stampede the other policies are there to prevent, and the control they
// are compared with.
#include "cache/policy.h"
#include "cache/rebuild.h"

namespace turnstile::cache_policies {
namespace {

class None final : public CachePolicy {
 public:
  None(const Backends& backends, CacheMetrics& metrics)
      : store_(backends.redis, "none"), rebuild_(backends, store_, metrics) {}

  Task<CacheAnswer> get(CacheRequest request) override {
    std::optional<Cached> entry = co_await store_.read(request.key);
    if (entry) co_return CacheAnswer::of(CacheAnswer::Source::cache, std::move(*entry));
    co_return CacheAnswer::rebuilt(co_await rebuild_.run(request.key, request.lab));
  }

  Task<Millis> expire(std::string key) override {
    co_await store_.drop(std::move(key));
    co_return Millis{0};
  }

 private:
  CacheStore store_;
  Rebuild rebuild_;
};

}  // namespace

CachePolicySpec none() {
  return {
      .name = "none",
      .summary = "every miss reads the database",
      .promised = {.least = 11, .most = 0},  // fewer, and the load was too weak to mean anything
      .make = [](const Backends& backends,
                 CacheMetrics& metrics) { return std::make_unique<None>(backends, metrics); },
  };
}

}  // namespace turnstile::cache_policies
