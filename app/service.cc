#include "app/service.h"

#include <drogon/utils/Utilities.h>

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
  return {"mysql",          config.mysqlHost,     config.mysqlPort,        config.mysqlUser,
          config.mysqlPassword, config.mysqlDatabase, config.mysqlConnections, config.mysqlTimeout};
}

std::vector<Redis*> nodesOf(const std::vector<std::unique_ptr<DrogonRedis>>& redis) {
  std::vector<Redis*> nodes;
  for (std::size_t i = 1; i < redis.size(); ++i) nodes.push_back(redis[i].get());
  return nodes;
}

Task<BackendState> askMySql(MySql& mysql) {
  try {
    co_await mysql.exec("SELECT 1", {});
    co_return BackendState{"mysql", true, "up"};
  } catch (const std::exception& error) {
    co_return BackendState{"mysql", false, error.what()};
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
      mysql_(mysqlOptions(config_)),
      redisStock_(*redis_.front()),
      mysqlStock_(mysql_),
      segmentedStock_(nodesOf(redis_), config_.segments),
      backends_{config_, clock_,          turns_, metrics_,    owners_,
                *redis_.front(), nodesOf(redis_), mysql_, redisStock_, mysqlStock_,
                segmentedStock_, channels_},
      stores_{&redisStock_, &mysqlStock_, &segmentedStock_} {
  for (const StrategySpec& spec : catalogue())
    strategies_.try_emplace(spec.name,
                            Entry{&spec, spec.make(backends_), metrics_.of(spec.name)});
}

void Service::startOnLoop() {
  for (const auto& redis : redis_) redis->start();
  channels_.start();
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
  states.push_back(co_await askMySql(mysql_));
  co_return states;
}

}  // namespace turnstile
