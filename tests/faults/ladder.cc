#include "tests/faults/ladder.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <stdexcept>
#include <utility>

namespace turnstile::test {
namespace {

std::string nameOf(int instance) { return "app-" + std::to_string(instance); }

void start(int instance, const std::vector<std::string>& settings = {}) {
  bench().start(nameOf(instance), settings);
  if (!eventually([&] { return bench().ready(instance); }))
    throw std::runtime_error(nameOf(instance) + " does not see its backends");
}

}  // namespace

bool locked(const std::string& event) {
  return redis("redis-main", {"EXISTS", lockOf(event)}) == "1";
}

long lifeOf(const std::string& event) {
  return std::stol(redis("redis-main", {"PTTL", lockOf(event)}).value());
}

long timesRun(const std::string& command) {
  const std::string stats = redis("redis-main", {"INFO", "commandstats"}).value();
  const std::string entry = "cmdstat_" + command + ":calls=";
  const auto found = stats.find(entry);
  return found == std::string::npos ? 0 : std::stol(stats.substr(found + entry.size()));
}

bool eventuallyRenewed(const std::string& event) {
  if (!eventually([&] { return locked(event); })) return false;
  long last = lifeOf(event);
  return eventually([&] {
    const long now = lifeOf(event);
    return now > std::exchange(last, now);
  });
}

bool unanswered(const std::future<Answer>& answer) {
  return answer.wait_for(milliseconds{0}) == std::future_status::timeout;
}

double lostLocks(const std::string& strategy) {
  return metric("turnstile_lock_lost_total", strategy);
}
double refusedFences(const std::string& strategy) {
  return metric("turnstile_fence_refused_total", strategy);
}

bool dies(const std::string& query, int instance) {
  try {
    ADD_FAILURE() << "an answer from a process that should be dead: " << sell(query, instance).body;
    return false;
  } catch (const std::exception&) {
    return eventually([&] { return !serviceRuns(nameOf(instance)); });
  }
}

PutBack::~PutBack() try {
  if (!serviceRuns(nameOf(instance_))) start(instance_);
} catch (const std::exception& error) {
  ADD_FAILURE() << error.what();
}

InstanceWith::InstanceWith(int instance, const std::string& variable, const std::string& value)
    : instance_(instance) {
  killService(nameOf(instance));
  start(instance, {variable + "=" + value});
}

InstanceWith::~InstanceWith() try {
  killService(nameOf(instance_));
  start(instance_);
} catch (const std::exception& error) {
  ADD_FAILURE() << error.what();
}

}  // namespace turnstile::test
