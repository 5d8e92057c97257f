// ZooKeeper through libzookeeper-mt. The library calls back on a thread of its own; every awaited
// call resumes on the event loop it was made on. An expired session is replaced by a new one; until
// then calls fail at once. One heartbeat a process, whatever the number of locks, proves that the
// session is alive.
#pragma once

#include <drogon/IOThreadStorage.h>

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "app/zookeeper.h"

struct _zhandle;  // NOLINT(bugprone-reserved-identifier): ZooKeeper named it

namespace turnstile {

class ZooKeeperSession final : public ZooKeeper {
 public:
  struct Options {
    std::string server;  // host:port; empty: not configured, every call says so
    Millis sessionTimeout{4000};
    Millis callTimeout{2000};
  };

  /// Before app().run(), after the number of threads is set.
  ZooKeeperSession(Options options, Clock& clock);
  ~ZooKeeperSession()
      override;  // ends the session: its nodes are gone at once, not after a timeout

  /// On every I/O loop, once the loops run.
  void start();

  Session session() const override;
  Task<Entered> enter(std::string directory, std::string prefix) override;
  Task<std::vector<std::string>> children(std::string directory) override;
  Task<std::shared_ptr<Watch>> watchDeletion(std::string node) override;
  Task<bool> remove(std::string node) override;
  void removeEventually(std::string directory, std::string prefix, std::int64_t session) override;

  bool configured() const { return !options_.server.empty(); }
  bool up() const;

 private:
  struct Handle;
  struct Call;
  struct PerLoop;
  struct Reply;
  struct Callbacks;  // the C library's side
  using Send = std::function<void(_zhandle*, const std::shared_ptr<Call>&)>;

  std::shared_ptr<Handle> connected() const;  // or throws BackendDown
  void open();                                // on the main loop
  void beat();                                // on the main loop
  void stateChanged(Handle& handle, _zhandle* raw, int state);
  void proven(const Handle& handle, TimePoint sentAt);
  std::uint64_t addWatch(const std::shared_ptr<Watch>& watch);
  void fireWatch(std::uint64_t token, bool gone);
  void fireAllWatches();
  void sweep(PerLoop& loop);
  /// One request, or several in one round trip. Returns when all are answered.
  Task<std::shared_ptr<Call>> exchange(int replies, Send send);
  Task<std::shared_ptr<Call>> createAndList(std::string directory, std::string path);
  Task<> makeDirectory(std::string directory);
  Task<> keepRemoving(std::string directory, std::string prefix, std::int64_t session);

  Options options_;
  Clock& clock_;
  drogon::IOThreadStorage<std::shared_ptr<PerLoop>> loops_;

  std::once_flag opened_;
  mutable std::mutex mutex_;  // guards what follows, and every Handle; never held across an await
  std::shared_ptr<Handle> handle_;
  Session session_;
  std::uint64_t lastToken_ = 0;
  std::unordered_map<std::uint64_t, std::weak_ptr<Watch>> watches_;
};

}  // namespace turnstile
