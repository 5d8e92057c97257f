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
  settings.add("zookeeper", c.zookeeper, "host:port; empty: none");
  settings.add("etcd", c.etcd, "host:port; empty: none");
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
  settings.add("lab", c.lab, "open the lab parameters of /lock to the admin token");
  settings.add("clock-skew-ms", c.clockSkew, "added to this instance's wall clock");
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
  if (!findStrategy(config.strategy))
    throw std::invalid_argument("strategy: unknown '" + config.strategy + "'; allowed: " +
                                strategyNames());
  const auto positive = [](const char* name, Millis value) {
    if (value <= Millis{0} || value > Millis{600'000})
      throw std::invalid_argument(std::string(name) + ": 1 to 600000 ms");
  };
  positive("redis-timeout-ms", config.redisTimeout);
  positive("mysql-timeout-ms", config.mysqlTimeout);
  positive("lock-ttl-ms", config.lockTtl);
  positive("lock-wait-ms", config.lockWait);
  positive("request-deadline-ms", config.requestDeadline);
  positive("watchdog-ms", config.watchdog);
  positive("fair-waiter-ms", config.fairWaiter);
  positive("node-timeout-ms", config.nodeTimeout);
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
