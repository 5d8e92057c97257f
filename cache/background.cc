#include "cache/background.h"

#include <trantor/utils/Logger.h>

namespace turnstile {
namespace {
constexpr Millis kRestAfterFailure{200};
}

void Background::start(const std::string& key, Work work) {
  {
    const std::lock_guard guard(mutex_);
    if (!running_.insert(key).second) return;
  }
  drogon::async_run([this, key, work = std::move(work)]() -> Task<> { co_await run(key, work); });
}

Task<> Background::run(std::string key, Work work) {
  bool failed = false;
  try {
    co_await work();
  } catch (const std::exception& error) {
    LOG_WARN << "rebuild of " << key << " behind the readers: " << error.what();
    failed = true;
  }
  if (failed) co_await clock_.sleep(kRestAfterFailure);
  const std::lock_guard guard(mutex_);
  running_.erase(key);
}

}  // namespace turnstile
