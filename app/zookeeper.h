// The port to ZooKeeper, as narrow as a lock needs it: enter a queue of ephemeral sequential nodes,
// look at it, hear of one node's deletion, remove a node.
//
// A process has one session; what it entered lives as long as that session. Every call has a
// deadline
// (`coordinator-timeout-ms`). It throws BackendDown when nothing was done, BackendTimeout when that
// is not known: the node may exist, and then removeEventually() takes care of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/watch.h"

namespace turnstile {

class ZooKeeper {
 public:
  virtual ~ZooKeeper() = default;

  /// The server cannot have ended this session before `validUntil` (by Clock::now()): it heard from
  /// us one session timeout before that. Holds also right after this process was frozen.
  struct Session {
    std::int64_t id = 0;  // 0: none at the moment
    TimePoint validUntil{};
  };
  virtual Session session() const = 0;

  struct Entered {
    std::string name;  // of the node, without its directory: prefix + ten digits
    std::uint64_t zxid =
        0;  // of the creation: grows with every change of the whole tree, never reused
    std::int64_t session = 0;
    std::vector<std::string> children;  // of the directory, the new node among them
  };
  /// Creates `directory/prefix<sequence>`, ephemeral, and the directory where it is missing, as
  /// container nodes: the server sweeps them away once they are empty.
  virtual Task<Entered> enter(std::string directory, std::string prefix) = 0;

  /// Empty also when there is no such directory.
  virtual Task<std::vector<std::string>> children(std::string directory) = 0;

  /// nullptr: the node is gone already.
  virtual Task<std::shared_ptr<Watch>> watchDeletion(std::string node) = 0;

  /// false: it was gone already.
  virtual Task<bool> remove(std::string node) = 0;

  /// In the background, again and again until it is known to be gone or `session` is over: the
  /// children of `directory` whose names start with `prefix`. For nodes whose creation or removal
  /// went unanswered.
  virtual void removeEventually(std::string directory, std::string prefix,
                                std::int64_t session) = 0;
};

}  // namespace turnstile
