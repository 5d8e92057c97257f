// All watches of one loop on one WebSocket to etcd's gateway. When the connection breaks every
// watch fires, unfulfilled: whoever waits looks again and asks anew. Not thread-safe: belongs to
// its loop.
#pragma once

#include <drogon/WebSocketClient.h>

#include <unordered_map>

#include "app/watch.h"

namespace turnstile {

class EtcdWatches : public std::enable_shared_from_this<EtcdWatches> {
 public:
  EtcdWatches(const std::string& host, std::uint16_t port);
  void connect();

  std::shared_ptr<Watch> add(const std::string& key, std::int64_t seenRevision);
  void remove(const std::shared_ptr<Watch>& watch);

 private:
  void received(const std::string& message);
  void connectionBroke();
  void forget(std::uint64_t id);

  drogon::WebSocketClientPtr client_;
  bool up_ = false;
  std::uint64_t lastId_ = 0;  // ours to choose, never 0: that lets the server choose
  struct Entry {
    std::shared_ptr<Watch> watch;
    std::int64_t seenRevision;  // of the store, when its key was last known to be there
  };
  std::unordered_map<std::uint64_t, Entry> watches_;
};

}  // namespace turnstile
