#include "loadtest/catalogue.h"

#include <drogon/HttpAppFramework.h>

#include "locks/registry.h"

namespace turnstile::harness {

const Promised* Described::forInstances(int instances) const {
  const auto find = [this](const char* condition) -> const Promised* {
    for (const auto& promised : promises) {
      if (promised.condition == condition) return &promised;
    }
    return nullptr;
  };
  const Promised* alone = instances == 1 ? find("one-instance") : nullptr;
  return alone ? alone : find("contention");
}

std::string framework() { return "Drogon " + drogon::getVersion(); }

std::vector<Described> describedStrategies() {
  std::vector<Described> all;
  for (const auto& spec : turnstile::catalogue()) {
    Described described{spec.name, spec.family, spec.summary, {}, {}};
    for (const auto kind : spec.stocks) described.stocks.emplace_back(turnstile::toString(kind));
    for (const auto& promise : spec.promises) {
      described.promises.push_back(
          {promise.condition, std::string(turnstile::toString(promise.verdict)), promise.reason});
    }
    all.push_back(std::move(described));
  }
  return all;
}

}  // namespace turnstile::harness
