#include "locks/quorum_lock.h"

#include <trantor/utils/Logger.h>

#include <random>

#include "app/errors.h"
#include "locks/release_if_mine.h"

namespace turnstile {
namespace {

// A hundredth of the TTL, and the 2 ms that servers round.
Millis drift(Millis ttl) { return ttl / 100 + Millis{2}; }

// Votes of one poll. Outlives it: an answer may come after everyone stopped waiting.
struct Ballot {
  Ballot(std::size_t voters, std::size_t enoughVotes) : open(voters), enough(enoughVotes) {}
  std::mutex mutex;
  std::size_t yes = 0;
  std::size_t open;
  const std::size_t enough;
  const std::shared_ptr<Wakeup> decided = std::make_shared<Wakeup>();

  void vote(bool forUs) {
    const std::lock_guard guard(mutex);
    --open;
    if (forUs) ++yes;
    if (yes >= enough || open == 0) decided->wake();
  }
  std::size_t count() {
    const std::lock_guard guard(mutex);
    return yes;
  }
};

}  // namespace

QuorumLock::QuorumLock(const Backends& backends, std::size_t need)
    : LockDriver(backends.clock),
      nodes_(backends.redisNodes),
      need_(need),
      nodeTimeout_(backends.config.nodeTimeout),
      ordered_(backends.config.redisConnections == 1) {}

Task<std::size_t> QuorumLock::poll(Question question, std::size_t enough) {
  const auto ballot = std::make_shared<Ballot>(nodes_.size(), enough);
  for (Redis* node : nodes_) {
    drogon::async_run([ballot, question, node]() -> Task<> {
      bool forUs = false;
      try {
        forUs = co_await question(*node);
      } catch (const std::exception& error) {
        LOG_DEBUG << error.what();  // down, or too slow: no vote
      }
      ballot->vote(forUs);
    });
  }
  co_await ballot->decided->wait(nodeTimeout_);
  co_return ballot->count();
}

Task<std::optional<Grant>> QuorumLock::tryAcquire(const LockRequest& request) {
  if (nodes_.empty()) throw BackendDown("redis-nodes", "none configured (setting redis-nodes)");
  const Millis validFor = request.ttl - drift(request.ttl);
  const TimePoint sent = clock_.now();
  const Question take = [name = request.name, value = request.owner,
                         life = std::to_string(request.ttl.count())](Redis& node) -> Task<bool> {
    const Reply reply = co_await node.command({"SET", name, value, "NX", "PX", life});
    co_return reply.isOk();
  };
  const std::size_t votes = co_await poll(take, need_);
  if (votes >= need_ && clock_.now() < sent + validFor) co_return Grant{request.owner, 0, validFor};
  co_await releaseEverywhere(request.name, request.owner);
  co_return std::nullopt;
}

// Contenders that meet split the votes so that nobody has enough. The longer that goes on, the
// further apart they try.
Task<> QuorumLock::awaitRelease(const LockRequest& request, Millis atMost) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int widest = std::min(4 << std::min(request.refusals, 5), 64);
  const Millis pause{std::uniform_int_distribution<>(2, widest)(random)};
  co_await request.turn->awaitLocalRelease(std::min(atMost, pause));
}

Task<bool> QuorumLock::release(const LockRequest& request, const Grant& grant) {
  co_return co_await releaseEverywhere(request.name, grant.owner) >= need_;
}

// Everywhere, also where we had no answer: the lock may have been taken there after all, and on one
// connection the release comes after it.
Task<std::size_t> QuorumLock::releaseEverywhere(std::string name, std::string value) {
  const Question giveBack = [name = std::move(name),
                             value = std::move(value)](Redis& node) -> Task<bool> {
    const Reply reply = co_await node.run(kReleaseIfMine, {name}, {value});
    co_return reply.integer == 1;
  };
  co_return co_await poll(giveBack, kEveryone);
}

Task<> QuorumLock::reset(std::string name) {
  const Question remove = [name = std::move(name)](Redis& node) -> Task<bool> {
    co_await node.command({"DEL", name});
    co_return true;
  };
  co_await poll(remove, kEveryone);
}

}  // namespace turnstile
