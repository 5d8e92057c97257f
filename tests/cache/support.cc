#include "tests/cache/support.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace turnstile::test {

harness::CacheLoad cacheLoad(const std::string& key) {
  std::ifstream file(runDir() + "/admin.token");
  harness::CacheLoad load{portOf("nginx"), kInstances, {}};
  file >> load.adminToken;
  load.key = key;
  return load;
}

std::string freshProduct() {
  static std::atomic<int> count{0};
  const std::string id = "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  const Answer answer = request("PUT", "/products/" + id + "?policy=cache-aside",
                                R"({"name":"Test product","price":100})", true);
  if (answer.status != 200) throw std::runtime_error("PUT /products/" + id + ": " + answer.body);
  return id;
}

double cacheCount(const std::string& name, const std::string& policy) {
  double sum = 0;
  const std::string series = "turnstile_cache_" + name + "{policy=\"" + policy + "\"";
  for (int instance = 1; instance <= kInstances; ++instance) try {
      std::istringstream lines(request("GET", "/metrics", {}, false, instance).body);
      for (std::string line; std::getline(lines, line);)
        if (line.starts_with(series)) sum += std::stod(line.substr(line.rfind(' ')));
    } catch (const std::exception&) {
      // an instance a test has killed has no counters
    }
  return sum;
}

Answer readCache(const std::string& key, const std::string& policy, int instance) {
  return request("GET", "/cache/" + key + "?policy=" + policy, {}, false, instance);
}

void expireCache(const std::string& key, const std::string& policy) {
  const Answer answer = request("DELETE", "/cache/" + key + "?policy=" + policy, {}, true);
  if (answer.status != 200) throw std::runtime_error("DELETE /cache/" + key + ": " + answer.body);
}

Outage::Outage(std::string service) : service_(std::move(service)) { killService(service_); }

Outage::~Outage() {
  try {
    end();
  } catch (const std::exception& error) {
    ADD_FAILURE() << service_ << " is not up again: " << error.what();
  }
}

void Outage::end() {
  if (over_) return;
  over_ = true;
  if (!serviceRuns(service_)) startService(service_);
  const bool ready = eventually(
      [] {
        for (int instance = 1; instance <= kInstances; ++instance)
          if (request("GET", "/readyz", {}, false, instance).status != 200) return false;
        return true;
      },
      milliseconds{30'000});
  if (!ready) throw std::runtime_error("the instances do not see their backends again");
}

}  // namespace turnstile::test
