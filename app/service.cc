#include "app/service.h"

#include <drogon/utils/Utilities.h>

#include "app/drogon_issuer.h"
#include "app/errors.h"

namespace turnstile {
namespace {

std::vector<std::unique_ptr<DrogonRedis>> connectRedis(const Config& config, Clock& clock) {
  std::vector<std::unique_ptr<DrogonRedis>> all;
  const auto connect = [&](std::string name, const Address& address) {
    all.push_back(std::make_unique<DrogonRedis>(
        DrogonRedis::Options{std::move(name), address.host, address.port, config.redisConnections,
                             config.redisTimeout},
        clock));
  };
  connect("redis-main", parseAddress("redis-main", config.redisMain));
  int number = 0;
  for (const Address& node : parseAddresses("redis-nodes", config.redisNodes))
    connect("redis-node-" + std::to_string(++number), node);
  return all;
}

DrogonMySql::Options mysqlOptions(const Config& config) {
  // A wait for a row ends before the statement's deadline: the first says what happened, the second does not.
  const auto lockWait = std::chrono::floor<std::chrono::seconds>(config.mysqlTimeout - Millis{500});
  return {"mysql",
          config.mysqlHost,
          config.mysqlPort,
          config.mysqlUser,
          config.mysqlPassword,
          config.mysqlDatabase,
          config.mysqlConnections,
          config.mysqlTimeout,
          lockWait,
          config.mysqlTls};
}

DrogonMySql::Options forUpdateOptions(const Config& config) {
  DrogonMySql::Options options = mysqlOptions(config);
  options.name = "mysql-for-update";
  options.connectionsPerLoop = config.mysqlForUpdateConnections;
  options.lockWait = std::chrono::seconds{1};  // InnoDB's least: the strategy asks again until its own limit
  return options;
}

EtcdGateway::Options etcdOptions(const Config& config) {
  EtcdGateway::Options options;
  options.callTimeout = config.coordinatorTimeout;
  if (config.etcd.empty()) return options;
  const Address address = parseAddress("etcd", config.etcd);
  options.host = address.host;
  options.port = address.port;
  return options;
}

std::vector<Redis*> nodesOf(const std::vector<std::unique_ptr<DrogonRedis>>& redis) {
  std::vector<Redis*> nodes;
  for (std::size_t i = 1; i < redis.size(); ++i) nodes.push_back(redis[i].get());
  return nodes;
}

// Both pools: each finds a server that is back by itself.
Task<BackendState> askMySql(MySql& mysql, MySql& mysqlForUpdate) {
  try {
    co_await mysql.exec("SELECT 1", {});
    co_await mysqlForUpdate.exec("SELECT 1", {});
    co_return BackendState{"mysql", true, "up"};
  } catch (const std::exception& error) {
    co_return BackendState{"mysql", false, error.what()};
  }
}

// One that is not configured is no reason not to be ready: its strategy says so to whoever asks for it.
BackendState stateOf(const ZooKeeperSession& zookeeper) {
  if (!zookeeper.configured()) return {"zookeeper", true, "not configured"};
  const bool up = zookeeper.up();
  return {"zookeeper", up, up ? "up" : "not connected"};
}

Task<BackendState> askEtcd(EtcdGateway& etcd) {
  if (!etcd.configured()) co_return BackendState{"etcd", true, "not configured"};
  try {
    co_await etcd.ping();
    co_return BackendState{"etcd", true, "up"};
  } catch (const std::exception& error) {
    co_return BackendState{"etcd", false, error.what()};
  }
}

}  // namespace

Service::Service(Config config)
    : config_(std::move(config)),
      clock_(config_.clockSkew),
      turns_(config_.localQueue),
      owners_(drogon::utils::getUuid(/*lowercase=*/true)),
      redis_(connectRedis(config_, clock_)),
      channels_(*redis_.front(), clock_, owners_.process()),
      mysql_(mysqlOptions(config_), clock_),
      mysqlForUpdate_(forUpdateOptions(config_), clock_),
      redisStock_(*redis_.front()),
      mysqlStock_(mysql_),
      mysqlSegments_(mysql_, config_.segments),
      segmentedStock_(nodesOf(redis_), config_.segments),
      zookeeper_({config_.zookeeper, config_.sessionTimeout, config_.coordinatorTimeout}, clock_),
      etcd_(etcdOptions(config_)),
      backends_{.config = config_,
                .clock = clock_,
                .turns = turns_,
                .metrics = metrics_,
                .owners = owners_,
                .redis = *redis_.front(),
                .redisNodes = nodesOf(redis_),
                .mysql = mysql_,
                .redisStock = redisStock_,
                .mysqlStock = mysqlStock_,
                .channels = channels_,
                .mysqlForUpdate = mysqlForUpdate_,
                .mysqlSegments = mysqlSegments_,
                .segmentedStock = segmentedStock_,
                .zookeeper = zookeeper_,
                .etcd = etcd_},
      stores_{&redisStock_, &mysqlStock_, &mysqlSegments_, &segmentedStock_} {
  for (const StrategySpec& spec : catalogue())
    strategies_.try_emplace(spec.name,
                            Entry{&spec, spec.make(backends_), metrics_.of(spec.name)});
  caches_ = std::make_unique<Caches>(backends_, connectIssuer(config_, clock_));
}

void Service::startOnLoop() {
  for (const auto& redis : redis_) redis->start();
  channels_.start();
  mysql_.start();
  mysqlForUpdate_.start();
  zookeeper_.start();
  etcd_.start();
}

void Service::startStrategies() {
  for (const auto& [name, entry] : strategies_) entry.strategy->start();
}

const Service::Entry* Service::find(std::string_view name) const {
  const auto found = strategies_.find(name);
  return found == strategies_.end() ? nullptr : &found->second;
}

Task<> Service::resetEvent(std::string event, int seats) {
  for (const auto& [name, entry] : strategies_) co_await entry.strategy->reset(event);
  for (Store* store : stores_) co_await store->reset(event, seats);
}

Task<std::vector<BackendState>> Service::backendStates() {
  std::vector<BackendState> states;
  for (const auto& redis : redis_) {
    const bool up = redis->up();
    states.push_back({redis->name(), up, up ? "up" : "not connected"});
  }
  states.push_back(co_await askMySql(mysql_, mysqlForUpdate_));
  states.push_back(stateOf(zookeeper_));
  states.push_back(co_await askEtcd(etcd_));
  co_return states;
}

}  // namespace turnstile
