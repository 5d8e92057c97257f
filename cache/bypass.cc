#include "cache/bypass.h"

namespace turnstile {

Task<std::optional<Cached>> Bypass::read(std::string key, TimePoint deadline,
                                         CacheMetrics& metrics) {
  const std::string slot = std::to_string(next_++ % static_cast<unsigned>(limit()));
  const Millis atMost = std::chrono::ceil<Millis>(deadline - backends_.clock.now());
  const std::optional<Turn> turn = co_await slots_.take(slot, atMost);
  if (!turn) co_return std::nullopt;
  CacheStore nowhere(backends_.redis, "bypass");
  Rebuild rebuild(backends_, nowhere, metrics);
  co_return co_await rebuild.read(std::move(key));
}

Task<CacheAnswer> Bypass::get(CacheRequest request, CacheMetrics& metrics) {
  metrics.bypassed.add();
  const Millis atMost = std::chrono::ceil<Millis>(request.deadline - backends_.clock.now());
  const auto fetch = [this, request, &metrics]() {
    return read(request.key, request.deadline, metrics);
  };
  const auto found = co_await flights_.join(request.key, atMost, fetch);
  co_return CacheAnswer::rebuilt(found.value_or(std::nullopt));
}

}  // namespace turnstile
