// Redis messages through Drogon: one subscriber connection a process, demultiplexed by channel and message.
// A channel stays subscribed for a while after its last listener left, so a busy lock pays for its
// subscription once and not once a wait.
#pragma once

#include <drogon/nosql/RedisClient.h>

#include <mutex>
#include <unordered_map>
#include <vector>

#include "app/redis.h"
#include "app/redis_channels.h"

namespace turnstile {

class DrogonChannels final : public RedisChannels {
 public:
  /// `redis` is the same server, for commands; `id` is this process's, unique in the fleet.
  DrogonChannels(Redis& redis, Clock& clock, std::string id)
      : redis_(redis), clock_(clock), id_(std::move(id)) {}

  /// On every I/O loop, once the loops run; the first one gets the connection.
  void start();

  void listen(const std::string& channel, const std::string& message,
              const std::shared_ptr<Wakeup>& listener) override;
  Task<bool> ready(std::string channel, std::string message,
                   std::shared_ptr<Wakeup> listener) override;
  void leave(const std::string& channel, const std::string& message,
             const std::shared_ptr<Wakeup>& listener) override;

 private:
  struct Listener {
    std::weak_ptr<Wakeup> wakeup;
    bool fromTheStart;  // the channel was live when it came
  };
  struct Channel {
    enum class State : std::uint8_t { unknown, asked, live, leaving };
    State state = State::unknown;
    TimePoint lastUsed;
    std::unordered_map<std::string, std::vector<Listener>> byMessage;
  };

  void subscribe(const std::string& channel);
  Task<bool> confirmed();
  void heard(const std::string& channel, const std::string& message);
  void sweep();
  Listener* find(const std::string& channel, const std::string& message,
                 const std::shared_ptr<Wakeup>& listener);

  Redis& redis_;
  Clock& clock_;
  const std::string id_;
  std::mutex mutex_;
  std::shared_ptr<drogon::nosql::RedisSubscriber> subscriber_;
  std::unordered_map<std::string, Channel> channels_;
  std::uint64_t marks_ = 0;
};

}  // namespace turnstile
