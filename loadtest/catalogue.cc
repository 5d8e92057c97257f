#include "loadtest/catalogue.h"

#include <drogon/HttpAppFramework.h>

#include "locks/registry.h"

namespace turnstile::harness {

const Promised* Described::promise(const std::string& condition) const {
  for (const auto& promised : promises) {
    if (promised.condition == condition) return &promised;
  }
  return nullptr;
}

const Promised* Described::forInstances(int instances) const {
  const Promised* alone = instances == 1 ? promise("one-instance") : nullptr;
  return alone ? alone : promise("contention");
}

std::string framework() { return "Drogon " + drogon::getVersion(); }

std::vector<Described> describedStrategies() {
  std::vector<Described> all;
  for (const auto& spec : turnstile::catalogue()) {
    Described described{spec.name, spec.family, spec.summary, {}, {}};
    for (const auto kind : spec.stocks) described.stocks.emplace_back(turnstile::toString(kind));
    for (const auto& promise : spec.promises) {
      described.promises.push_back(
          {std::string(promise.condition), std::string(turnstile::toString(promise.verdict)),
           std::string(promise.reason)});
    }
    described.reentrant = spec.reentrant;
    described.fenced = spec.fenced;
    for (const auto point : spec.points) described.points.emplace_back(turnstile::toString(point));
    described.tryIt = spec.tryIt;
    all.push_back(std::move(described));
  }
  return all;
}

std::vector<DescribedPoint> describedPoints() {
  std::vector<DescribedPoint> all;
  for (const auto& info : turnstile::kPoints)
    all.push_back({std::string(info.name), std::string(info.meaning)});
  return all;
}

std::vector<std::string> labActions() {
  return {turnstile::kActionNames.begin(), turnstile::kActionNames.end()};
}

}  // namespace turnstile::harness
