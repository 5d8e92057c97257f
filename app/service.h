// The composition root: makes the ports from the configuration, the strategies from the catalogue, and
// holds them for as long as the process runs. Controllers see this and nothing below.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/backends.h"
#include "app/config.h"
#include "app/drogon_channels.h"
#include "app/drogon_mysql.h"
#include "app/drogon_redis.h"
#include "app/etcd_gateway.h"
#include "app/zookeeper_session.h"
#include "cache/caches.h"
#include "locks/registry.h"
#include "locks/turns.h"

namespace turnstile {

struct BackendState {
  std::string name;
  bool up;
  std::string detail;
};

class Service {
 public:
  struct Entry {
    const StrategySpec* spec;
    std::unique_ptr<Strategy> strategy;
    StrategyMetrics& metrics;
  };

  /// Before app().run(), after the number of threads is set.
  explicit Service(Config config);

  /// On every I/O loop, once the loops run.
  void startOnLoop();
  /// On one of them, after that.
  void startStrategies();

  const Config& config() const { return config_; }
  Clock& clock() { return clock_; }
  Metrics& metrics() { return metrics_; }

  /// nullptr: no such strategy.
  const Entry* find(std::string_view name) const;
  const std::vector<Store*>& stores() const { return stores_; }
  Caches& caches() { return *caches_; }

  /// Every store, and every strategy's locks.
  Task<> resetEvent(std::string event, int seats);
  Task<std::vector<BackendState>> backendStates();

  /// Sales and writes under way; a stop waits for them.
  std::atomic<int> inFlight{0};
  std::atomic<bool> draining{false};
  struct InFlight {
    explicit InFlight(Service& s) : service(s) { ++service.inFlight; }
    ~InFlight() { --service.inFlight; }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;
    Service& service;
  };

 private:
  Config config_;
  SystemClock clock_;
  Turns turns_;
  Metrics metrics_;
  Owners owners_;
  std::vector<std::unique_ptr<DrogonRedis>> redis_;  // main first, then the nodes
  DrogonChannels channels_;  // of the main server
  DrogonMySql mysql_;
  DrogonMySql mysqlForUpdate_;
  RedisStock redisStock_;
  MySqlStock mysqlStock_;
  MySqlSegments mysqlSegments_;
  SegmentedStock segmentedStock_;
  ZooKeeperSession zookeeper_;
  EtcdGateway etcd_;
  Backends backends_;
  std::vector<Store*> stores_;
  std::map<std::string, Entry, std::less<>> strategies_;
  std::unique_ptr<Caches> caches_;
};

}  // namespace turnstile
