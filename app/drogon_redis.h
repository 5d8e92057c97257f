// Redis through Drogon's per-loop client. Adds what that client lacks: a deadline for every command at the
// cost of one timer a loop instead of one a command; and failing at once while the server is known to be
// away, instead of queueing without bound.
#pragma once

#include <drogon/IOThreadStorage.h>
#include <drogon/nosql/RedisClient.h>

#include <deque>

#include "app/clock.h"
#include "app/redis.h"

namespace turnstile {

class DrogonRedis final : public Redis {
 public:
  struct Options {
    std::string name;  // "redis-main": in errors, and Drogon's name for the client
    std::string host;
    std::uint16_t port = 0;
    std::size_t connectionsPerLoop = 1;
    Millis timeout{1000};
  };

  /// Before app().run(), after the number of threads is set.
  DrogonRedis(Options options, Clock& clock);
  ~DrogonRedis() override;

  /// On every I/O loop, once the loops run.
  void start();

  const std::string& name() const override { return options_.name; }

  /// As seen from the calling loop.
  bool up() const;

 private:
  struct Call;
  struct PerLoop;
  struct Ping;
  void ensureUp() const override;
  void send(Exchange& exchange) override;
  void sendAll(PerLoop& loop);
  static void answered(Call& call, const drogon::nosql::RedisResult& result);
  void failed(Call& call, const drogon::nosql::RedisException& error);
  void connectionBroke(PerLoop& loop);
  void sweep(PerLoop& loop);
  Task<> heartbeat();
  Task<> probe(PerLoop& loop);

  Options options_;
  Clock& clock_;
  drogon::IOThreadStorage<std::shared_ptr<PerLoop>> loops_;
};

}  // namespace turnstile
