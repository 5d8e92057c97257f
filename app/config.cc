#include "app/config.h"

#include <json/json.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>

#include "locks/lab.h"
#include "locks/registry.h"

namespace turnstile {
namespace {

std::string envName(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return "TURNSTILE_" + name;
}

// One row a setting: this class turns it into a JSON key, an environment variable, a flag and a line of
// describe(). Later sources are stronger: the file sets the defaults that CLI11 then overrides.
class Settings {
 public:
  Settings(CLI::App& app, const Json::Value& file) : app_(app), file_(file) {}

  template <class T>
  CLI::Option* add(const std::string& name, T& field, const std::string& help) {
    take(name, [&](const Json::Value& value) { read(value, field); });
    return app_.add_option("--" + name, field, help)
        ->envname(envName(name))
        ->capture_default_str();
  }

  void add(const std::string& name, Millis& field, const std::string& help) {
    take(name, [&](const Json::Value& value) { field = Millis{value.asInt64()}; });
    app_.add_option_function<std::int64_t>(
            "--" + name, [&field](std::int64_t ms) { field = Millis{ms}; }, help)
        ->envname(envName(name))
        ->default_str(std::to_string(field.count()));
  }

  void rejectUnknown() const {
    for (const std::string& key : file_.getMemberNames())
      if (!known_.contains(key))
        throw std::invalid_argument("config file: unknown setting '" + key +
                                    "'; --help lists the known ones");
  }

 private:
  template <class Read>
  void take(const std::string& name, Read read) {
    known_.insert(name);
    if (!file_.isMember(name)) return;
    try {
      read(file_[name]);
    } catch (const Json::Exception& error) {
      throw std::invalid_argument("config file: " + name + ": " + error.what());
    }
  }
  static void read(const Json::Value& value, std::string& field) { field = value.asString(); }
  static void read(const Json::Value& value, bool& field) { field = value.asBool(); }
  template <class Int>
  static void read(const Json::Value& value, Int& field) {
    field = static_cast<Int>(value.asUInt64());
  }

  CLI::App& app_;
  const Json::Value& file_;
  std::set<std::string> known_;
};

void declare(Settings& settings, Config& c) {
  settings.add("listen", c.listen, "address to listen on");
  settings.add("port", c.port, "port to listen on");
  settings.add("instance", c.instance, "name of this instance in answers and in the ledger");
  settings.add("threads", c.threads, "event loops")->check(CLI::Range(1, 64));
  settings.add("strategy", c.strategy, "strategy of a request that names none");
  settings.add("stock", c.stock, "stock of a guarded sale that names none")
      ->check(CLI::IsMember({"redis", "mysql"}));
  settings.add("redis-main", c.redisMain, "host:port");
  settings.add("redis-nodes", c.redisNodes, "independent masters, host:port,host:port,…");
  settings.add("redis-connections", c.redisConnections, "a loop and server")
      ->check(CLI::Range(1, 64));
  settings.add("redis-timeout-ms", c.redisTimeout, "deadline of one command");
  settings.add("mysql-host", c.mysqlHost, "host or address");
  settings.add("mysql-port", c.mysqlPort, "port");
  settings.add("mysql-user", c.mysqlUser, "user");
  settings.add("mysql-database", c.mysqlDatabase, "database");
  settings.add("mysql-connections", c.mysqlConnections, "a loop")->check(CLI::Range(1, 256));
  settings.add("mysql-for-update-connections", c.mysqlForUpdateConnections,
               "a loop, only for mysql-for-update")
      ->check(CLI::Range(1, 256));
  settings.add("mysql-timeout-ms", c.mysqlTimeout, "deadline of one statement");
  settings.add("mysql-tls", c.mysqlTls,
               "PEM file of the CA that signed the server's certificate: TLS, certificate and host name "
               "checked; empty: clear text");
  settings.add("mysql-lock-fair", c.mysqlLockFair,
               "mysql-unique-index serves waiters in order; false is faster");
  settings.add("zookeeper", c.zookeeper, "host:port; empty: none");
  settings.add("etcd", c.etcd, "host:port; empty: none");
  settings.add("session-timeout-ms", c.sessionTimeout,
               "of a ZooKeeper session and an etcd lease (there in whole seconds)");
  settings.add("coordinator-timeout-ms", c.coordinatorTimeout,
               "deadline of one call to ZooKeeper or etcd");
  settings.add("lock-ttl-ms", c.lockTtl, "life of a lock nobody renews");
  settings.add("lock-wait-ms", c.lockWait, "how long a sale waits for a lock before it is busy");
  settings.add("request-deadline-ms", c.requestDeadline, "retries of one sale end here");
  settings.add("watchdog-ms", c.watchdog,
               "redis-redisson, redis-fair: life of a lock without a lease time; renewed at a third");
  settings.add("fair-waiter-ms", c.fairWaiter, "redis-fair: a silent waiter loses its place");
  settings.add("node-timeout-ms", c.nodeTimeout,
               "redis-redlock, redis-multilock: a slower node has no vote");
  settings.add("segments", c.segments, "parts of a segmented stock")->check(CLI::Range(1, 64));
  settings.add("local-queue", c.localQueue, "one contender a lock and instance, the others queue");
  settings.add("set-ex-lua-acquire", c.setExLuaAcquire,
               "how redis-set-ex-lua takes its lock: SET NX PX, or SETNX and PEXPIRE in a script")
      ->check(CLI::IsMember({"set", "lua"}));
  settings.add("lab", c.lab, "open the lab parameters of /lock to the admin token");
  settings.add("clock-skew-ms", c.clockSkew, "added to this instance's wall clock");
  settings.add("cache-ttl-ms", c.cacheTtl, "how long a cached product is fresh");
  settings.add("cache-absent-ttl-ms", c.cacheAbsentTtl, "how long a product is remembered as absent");
  settings.add("cache-stale-ms", c.cacheStale, "how long policy logical-expiry serves what is stale");
  settings.add("cache-rebuild-ms", c.cacheRebuild, "slow part of a rebuild's query; 0: none");
  settings.add("cache-lock", c.cacheLock, "strategy whose lock lets one in the fleet rebuild");
  settings.add("cache-lock-ttl-ms", c.cacheLockTtl, "life of that lock when its holder dies");
  settings.add("cache-db-limit", c.cacheDbLimit, "database reads at once while Redis is away")
      ->check(CLI::Range(1, 256));
  settings.add("cache-second-delete-ms", c.cacheSecondDelete, "when policy double-delete deletes again");
  settings.add("token-issuer", c.tokenIssuer, "host:port; empty: none");
  settings.add("token-margin-ms", c.tokenMargin,
               "a token is not handed out for the last of its life: the time a caller has to use it");
  settings.add("token-timeout-ms", c.tokenTimeout, "deadline of one call to the issuer");
}

Json::Value readFile(const std::string& path) {
  Json::Value root(Json::objectValue);
  if (path.empty()) return root;
  std::ifstream in(path);
  if (!in) throw std::invalid_argument("config file: cannot read " + path);
  std::string errors;
  Json::CharReaderBuilder builder;
  if (!Json::parseFromStream(builder, in, &root, &errors) || !root.isObject())
    throw std::invalid_argument("config file " + path + ": " + errors);
  return root;
}

// The file must be known before the flags are parsed, because it gives them their defaults.
std::string configPath(int argc, char** argv) {
  const char* env = std::getenv("TURNSTILE_CONFIG");
  std::string path = env ? env : "";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--config" && i + 1 < argc) path = argv[i + 1];
    if (word.starts_with("--config=")) path = word.substr(9);
  }
  return path;
}

void check(const Config& config) {
  parseAddress("redis-main", config.redisMain);
  parseAddresses("redis-nodes", config.redisNodes);
  if (!config.zookeeper.empty()) parseAddress("zookeeper", config.zookeeper);
  if (!config.etcd.empty()) parseAddress("etcd", config.etcd);
  if (!findStrategy(config.strategy))
    throw std::invalid_argument("strategy: unknown '" + config.strategy + "'; allowed: " +
                                strategyNames());
  const auto positive = [](const char* name, Millis value) {
    if (value <= Millis{0} || value > Millis{600'000})
      throw std::invalid_argument(std::string(name) + ": 1 to 600000 ms");
  };
  positive("redis-timeout-ms", config.redisTimeout);
  positive("mysql-timeout-ms", config.mysqlTimeout);
  if (config.mysqlTimeout < Millis{1500})
    throw std::invalid_argument(
        "mysql-timeout-ms: 1500 to 600000 ms; InnoDB's shortest wait for a row is 1 s, and it must end first");
  // Both go into the connector's "option=value;…".
  for (const std::string& text : {config.mysqlHost, config.mysqlTls})
    if (text.find_first_of(" \t\n;{}'\\") != std::string::npos)
      throw std::invalid_argument("mysql-host, mysql-tls: no blank and none of ;{}'\\ in '" + text + "'");
  if (!config.mysqlTls.empty() && !std::ifstream(config.mysqlTls))
    throw std::invalid_argument("mysql-tls: cannot read the CA file " + config.mysqlTls);
  positive("session-timeout-ms", config.sessionTimeout);
  positive("coordinator-timeout-ms", config.coordinatorTimeout);
  positive("lock-ttl-ms", config.lockTtl);
  positive("lock-wait-ms", config.lockWait);
  positive("request-deadline-ms", config.requestDeadline);
  positive("watchdog-ms", config.watchdog);
  positive("fair-waiter-ms", config.fairWaiter);
  positive("node-timeout-ms", config.nodeTimeout);
  positive("cache-ttl-ms", config.cacheTtl);
  positive("cache-absent-ttl-ms", config.cacheAbsentTtl);
  positive("cache-stale-ms", config.cacheStale);
  positive("cache-rebuild-ms", config.cacheRebuild + Millis{1});  // 0 is allowed
  positive("cache-lock-ttl-ms", config.cacheLockTtl);
  positive("cache-second-delete-ms", config.cacheSecondDelete);
  positive("token-margin-ms", config.tokenMargin);
  positive("token-timeout-ms", config.tokenTimeout);
  if (!config.tokenIssuer.empty()) parseAddress("token-issuer", config.tokenIssuer);
  if (!findStrategy(config.cacheLock))
    throw std::invalid_argument("cache-lock: unknown '" + config.cacheLock +
                                "'; allowed are those that guard with a lock of: " + strategyNames());
}

std::string labHelp() {
  std::string text = "Lab points (fault=point:action on /lock):\n";
  for (const PointInfo& info : kPoints)
    text.append("  ").append(info.name).append(": ").append(info.meaning).append("\n");
  text += "Actions:";
  for (const std::string_view action : kActionNames) text.append(" ").append(action);
  return text + "\nSecrets come from the environment only: TURNSTILE_ADMIN_TOKEN, "
                "TURNSTILE_MYSQL_PASSWORD.";
}

std::string secret(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Address parseAddress(const std::string& setting, const std::string& text) {
  const auto colon = text.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0) try {
      port = std::stoi(text.substr(colon + 1));
    } catch (const std::exception&) {
      port = 0;
    }
  if (port < 1 || port > 65535)
    throw std::invalid_argument(setting + ": '" + text + "' is not host:port");
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

std::vector<Address> parseAddresses(const std::string& setting, const std::string& commaList) {
  std::vector<Address> all;
  std::istringstream parts(commaList);
  for (std::string one; std::getline(parts, one, ',');) all.push_back(parseAddress(setting, one));
  return all;
}

Config loadConfig(int argc, char** argv) {
  Config config;
  CLI::App app{"Turnstile: sells tickets, one locking strategy at a time", "turnstile-server"};
  app.footer(labHelp());
  std::string path;
  app.add_option("--config", path, "JSON file of these settings, without the dashes")
      ->envname("TURNSTILE_CONFIG");
  try {
    const Json::Value file = readFile(configPath(argc, argv));
    Settings settings(app, file);
    declare(settings, config);
    settings.rejectUnknown();
    app.parse(argc, argv);
    config.adminToken = secret("TURNSTILE_ADMIN_TOKEN");
    config.mysqlPassword = secret("TURNSTILE_MYSQL_PASSWORD");
    check(config);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  } catch (const std::exception& error) {
    std::cerr << "turnstile-server: " << error.what() << '\n';
    std::exit(64);
  }
  return config;
}

std::string describe(const Config& config) {
  Config copy = config;
  CLI::App app;
  const Json::Value none(Json::objectValue);
  Settings settings(app, none);
  declare(settings, copy);
  std::string text;
  for (const CLI::Option* option : app.get_options())
    if (option->get_single_name() != "help")
      text += option->get_single_name() + " = " + option->get_default_str() + '\n';
  const auto hidden = [](const std::string& value) { return value.empty() ? "(not set)" : "(set)"; };
  text += std::string("mysql-password = ") + hidden(config.mysqlPassword) + '\n';
  return text + "admin-token = " + hidden(config.adminToken) + '\n';
}

}  // namespace turnstile
