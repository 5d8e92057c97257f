// Everything a strategy may build on, as ports. Made once by the composition root (app/service.cc), or by
// a test; outlives every strategy.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "app/clock.h"
#include "app/config.h"
#include "app/etcd.h"
#include "app/metrics.h"
#include "app/mysql.h"
#include "app/mysql_segments.h"
#include "app/mysql_stock.h"
#include "app/redis.h"
#include "app/redis_channels.h"
#include "app/redis_stock.h"
#include "app/segmented_stock.h"
#include "app/zookeeper.h"

namespace turnstile {

class Turns;

/// "uuid:number", the shape Redisson gives its owners: the process, then the request. A request's, not a
/// thread's: coroutines move.
class Owners {
 public:
  explicit Owners(std::string process) : process_(std::move(process)) {}
  std::string next() { return process_ + ':' + std::to_string(++count_); }
  const std::string& process() const { return process_; }

 private:
  const std::string process_;
  std::atomic<std::uint64_t> count_{0};
};

struct Backends {
  const Config& config;
  Clock& clock;
  Turns& turns;
  Metrics& metrics;
  Owners& owners;
  Redis& redis;                     // the main server
  std::vector<Redis*> redisNodes;   // independent masters: quorum locks and segments
  MySql& mysql;
  RedisStock& redisStock;
  MySqlStock& mysqlStock;
  RedisChannels& channels;          // of the main server
  MySql& mysqlForUpdate;  // a pool of its own: its transactions hold connections while they wait for a row
  MySqlSegments& mysqlSegments;
  SegmentedStock& segmentedStock;   // over the nodes
  ZooKeeper& zookeeper;
  Etcd& etcd;

  Stock& stock(StockKind kind) const {
    return kind == StockKind::redis ? static_cast<Stock&>(redisStock) : mysqlStock;
  }
};

}  // namespace turnstile
