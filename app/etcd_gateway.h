// etcd through its JSON gateway, with Drogon's HTTP client on kept-alive connections. Each loop has
// its own connections; a request takes an idle one, since a server answers a connection's requests
// one by one.
//
// Watches go through one WebSocket a loop: the gateway offers its streaming calls that way, so a
// deletion is told the moment it happens, and many watches share a connection. (Over plain HTTP a
// watch would take a connection of its own, and Drogon's client would hand over nothing before its
// end, which never comes.)
#pragma once

#include <drogon/HttpClient.h>
#include <drogon/IOThreadStorage.h>
#include <json/value.h>

#include "app/etcd.h"

namespace turnstile {

class EtcdWatches;

class EtcdGateway final : public Etcd {
 public:
  struct Options {
    std::string host;  // empty: not configured, every call says so
    std::uint16_t port = 0;
    Millis callTimeout{2000};
  };

  /// Before app().run(), after the number of threads is set.
  explicit EtcdGateway(Options options);
  ~EtcdGateway() override;

  /// On every I/O loop, once the loops run.
  void start();

  Task<Granted> grant(std::chrono::seconds ttl) override;
  Task<bool> keepAlive(Lease lease) override;
  Task<> revoke(Lease lease) override;
  Task<std::optional<Queue>> putIfAbsent(std::string key, Lease lease, std::string prefix) override;
  Task<Queue> newest(std::string prefix, std::int64_t upTo) override;
  Task<bool> remove(std::string key) override;
  Task<> removeAll(std::string prefix) override;
  std::shared_ptr<Watch> watchDeletion(const std::string& key, std::int64_t revision) override;
  void unwatch(const std::shared_ptr<Watch>& watch) override;

  bool configured() const { return !options_.host.empty(); }
  /// Throws when the server does not answer a read that needs its quorum.
  Task<> ping();

 private:
  struct Connection;
  struct PerLoop;
  struct Exchange;
  Connection& idle(PerLoop& loop) const;
  /// nullopt: "not found", said of a lease.
  Task<std::optional<Json::Value>> post(std::string path, std::string body);

  Options options_;
  drogon::IOThreadStorage<std::shared_ptr<PerLoop>> loops_;
};

}  // namespace turnstile
