// Every setting of the service. Strength: file, then TURNSTILE_… environment, then flags.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/stock.h"
#include "app/time.h"

namespace turnstile {

struct Config {
  std::string listen = "127.0.0.1";
  std::uint16_t port = 8081;
  std::string instance = "app-1";
  std::size_t threads = 1;
  std::string strategy = "redis-lua";
  std::string stock = "redis";  // for guarded strategies when a request names none

  std::string redisMain = "127.0.0.1:8100";
  std::string redisNodes;  // comma list; may be empty
  std::size_t redisConnections = 1;
  Millis redisTimeout{1000};

  std::string mysqlHost = "127.0.0.1";
  std::uint16_t mysqlPort = 8110;
  std::string mysqlUser = "turnstile";
  std::string mysqlPassword;  // secret
  std::string mysqlDatabase = "turnstile";
  std::size_t mysqlConnections = 8;
  std::size_t mysqlForUpdateConnections = 8;
  Millis mysqlTimeout{3000};
  std::string mysqlTls;       // PEM file of the authority that signed the server's certificate; empty: clear text
  bool mysqlLockFair = true;  // mysql-unique-index serves waiters in order of arrival

  std::string zookeeper;  // host:port; empty: none
  std::string etcd;
  Millis sessionTimeout{4'000};      // of a ZooKeeper session and an etcd lease: how long a dead holder is waited for
  Millis coordinatorTimeout{2'000};  // of one call to either

  Millis lockTtl{10'000};   // the articles' 10 s
  Millis lockWait{3'000};
  Millis requestDeadline{10'000};
  Millis watchdog{30'000};    // Redisson's default: life of a lock taken without a lease time, while renewed
  Millis fairWaiter{1'500};   // a waiter of redis-fair not heard of for this long is dead
  Millis nodeTimeout{100};    // redis-redlock, redis-multilock: a node slower than this has no vote
  std::size_t segments = 40;
  bool localQueue = true;
  std::string setExLuaAcquire = "set";  // or "lua": the other way to set key and life in one step

  bool lab = false;
  std::string adminToken;  // secret; empty: admin calls are refused
  Millis clockSkew{0};

  // The cache scenarios (docs/caches.md).
  Millis cacheTtl{10'000};
  Millis cacheAbsentTtl{1'000};
  Millis cacheStale{600'000};   // served past its time, where the policy does
  Millis cacheRebuild{200};     // the slow part of the query a rebuild runs
  std::string cacheLock = "redis-set-ex-lua";
  Millis cacheLockTtl{3'000};
  int cacheDbLimit = 4;         // database reads at once while Redis is away
  Millis cacheSecondDelete{500};  // policy double-delete: when the cache is deleted again
  std::string tokenIssuer;      // host:port; empty: none, and GET /token says so
  Millis tokenMargin{2'000};    // a token is not handed out for the last of its life
  Millis tokenTimeout{3'000};   // of one call to the issuer
};

struct Address {
  std::string host;
  std::uint16_t port;
};
/// "host:port". Throws std::invalid_argument naming `setting`.
Address parseAddress(const std::string& setting, const std::string& text);
std::vector<Address> parseAddresses(const std::string& setting, const std::string& commaList);

/// Reads file, environment and flags. Prints help or an error and exits when that is what was asked for
/// or wrong; so only for main().
Config loadConfig(int argc, char** argv);

/// One "name = value" a line, secrets as "(set)" or "(not set)".
std::string describe(const Config& config);

}  // namespace turnstile
