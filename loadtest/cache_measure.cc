#include "loadtest/cache_measure.h"

#include <json/json.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "loadtest/http_client.h"
#include "loadtest/interrupt.h"
#include "loadtest/keep_alive.h"
#include "loadtest/prometheus.h"

namespace turnstile::harness {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRestWithin{20'000};
constexpr milliseconds kBetweenLooks{30};

struct Sample {
  SteadyTime began;
  float tookMs;
  enum class Kind : std::uint8_t { cache, stale, database, error } kind;
};

struct Window {
  SteadyTime from, to;
  bool holds(SteadyTime time) const { return from <= time && time < to; }
};

std::string target(const CacheLoad& load, const std::string& policy) {
  return "/cache/" + load.key + "?policy=" + policy;
}

Sample::Kind kindOf(const Shot& shot) {
  if (shot.status != 200) return Sample::Kind::error;
  if (shot.body.find(R"("source":"cache")") != std::string_view::npos) return Sample::Kind::cache;
  if (shot.body.find(R"("source":"stale")") != std::string_view::npos) return Sample::Kind::stale;
  return Sample::Kind::database;
}

// Keeps every connection busy in a thread of its own until stopped.
class Crowd {
 public:
  Crowd(const CacheLoad& load, const std::string& policy)
      : text_(requestText("GET", target(load, policy))),
        clients_(std::vector<int>(static_cast<std::size_t>(load.connections), load.basePort),
                 [this](const Shot& shot) { note(shot); }),
        thread_([this, connections = load.connections] {
          for (int i = 0; i < connections; ++i) clients_.send(i, text_);
          clients_.run(Clock::time_point::max());
        }) {}
  ~Crowd() { stop(); }

  // What was seen. After this nothing is under way any more.
  const std::vector<Sample>& stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    return samples_;
  }
  const std::string& firstError() const { return firstError_; }

 private:
  void note(const Shot& shot) {
    const float took = std::chrono::duration<float, std::milli>(shot.ended - shot.began).count();
    samples_.push_back({shot.began, took, kindOf(shot)});
    if (samples_.back().kind == Sample::Kind::error && firstError_.empty())
      firstError_ = std::to_string(shot.status) + " " + std::string(shot.body.substr(0, 200));
    if (!stopping_) clients_.send(shot.connection, text_);
  }

  std::string text_;
  std::vector<Sample> samples_;
  std::string firstError_;
  std::atomic<bool> stopping_{false};
  KeepAlive clients_;
  std::thread thread_;  // last: it uses all of the above
};

// Nobody reads the database, and the key is cached: from here on an expiry counts for itself.
void awaitRest(const CacheLoad& load, const std::string& policy) {
  const auto until = Clock::now() + kRestWithin;
  for (int quiet = 0; quiet < 3;) {
    if (interrupted()) return;
    const HttpAnswer answer = send({.port = load.basePort, .target = target(load, policy)});
    if (answer.status != 200 && answer.status != 503)
      throw std::runtime_error("GET " + target(load, policy) + ": " + answer.body.substr(0, 300));
    const bool cached = answer.body.find(R"("source":"cache")") != std::string::npos;
    quiet = cached && cacheMetric(load, "db_reading", policy) == 0 ? quiet + 1 : 0;
    if (Clock::now() > until)
      throw std::runtime_error("policy " + policy + " did not come to rest");
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

milliseconds expire(const CacheLoad& load, const std::string& policy) {
  const HttpAnswer answer = send({.port = load.basePort,
                                  .method = "DELETE",
                                  .target = target(load, policy),
                                  .bearer = load.adminToken});
  Json::Value json;
  if (answer.status != 200 || !Json::Reader().parse(answer.body, json))
    throw std::runtime_error("DELETE " + target(load, policy) + ": " + answer.body.substr(0, 300));
  return milliseconds{json["expires_in_ms"].asInt64()};
}

milliseconds rebuildTime(const CacheLoad& load) {
  const HttpAnswer answer = send({.port = load.basePort, .target = "/cache"});
  Json::Value json;
  if (answer.status != 200 || !Json::Reader().parse(answer.body, json))
    throw std::runtime_error("GET /cache: " + answer.body.substr(0, 300));
  return milliseconds{json["rebuild_ms"].asInt64()};
}

void evaluate(CacheFigures& figures, const std::vector<Sample>& samples,
              const std::vector<Window>& windows) {
  for (const Sample& sample : samples) {
    const bool inside = std::any_of(windows.begin(), windows.end(),
                                    [&](const Window& one) { return one.holds(sample.began); });
    if (!inside) continue;
    ++figures.answers;
    figures.waited += sample.kind == Sample::Kind::database;
    figures.stale += sample.kind == Sample::Kind::stale;
    figures.errors += sample.kind == Sample::Kind::error;
    figures.windowMs.push_back(sample.tookMs);
  }
  std::sort(figures.windowMs.begin(), figures.windowMs.end());
}

}  // namespace

double cacheMetric(const CacheLoad& load, const std::string& name, const std::string& policy) {
  double sum = 0;
  for (int instance = 1; instance <= load.instances; ++instance) {
    const Metrics metrics =
        parseMetrics(send({.port = load.basePort + instance, .target = "/metrics"}).body);
    const auto found = metrics.find(metricKey("turnstile_cache_" + name, {{"policy", policy}}));
    if (found != metrics.end()) sum += found->second;
  }
  return sum;
}

CacheFigures measureCache(const CacheLoad& load, const std::string& policy,
                          const std::function<void(int, int)>& tick) {
  CacheFigures figures;
  figures.policy = policy;
  const milliseconds rebuild = rebuildTime(load);
  awaitRest(load, policy);
  Crowd crowd(load, policy);
  std::vector<Window> windows;
  for (int expiry = 1; expiry <= load.expiries && !interrupted(); ++expiry) {
    awaitRest(load, policy);
    const double before = cacheMetric(load, "db_reads_total", policy);
    const SteadyTime from = Clock::now();
    const milliseconds window = expire(load, policy) + rebuild;
    std::this_thread::sleep_until(from + window);
    awaitRest(load, policy);
    windows.push_back({from, from + window});
    figures.dbReads.push_back(
        static_cast<int>(cacheMetric(load, "db_reads_total", policy) - before));
    if (tick) tick(expiry, figures.dbReads.back());
  }
  evaluate(figures, crowd.stop(), windows);
  figures.firstError = crowd.firstError();
  return figures;
}

}  // namespace turnstile::harness
