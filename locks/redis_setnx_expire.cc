// SETNX, then PEXPIRE by the winner: a holder that crashes is outlived by its key for one TTL only.
// What still breaks it: these are two commands. A crash between them leaves a key without a life,
// and the lock is never free again. And with a life comes a new flaw: work that outlasts it (see
// redis_set_ex.cc).
//
// One printed listing sends EXPIRE before it looks at SETNX's answer, so that losers go on
// prolonging the winner's lock; here only the winner does.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class SetnxExpire final : public SetnxLock {
 public:
  using SetnxLock::SetnxLock;

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    auto grant = co_await SetnxLock::tryAcquire(request);
    if (!grant) co_return std::nullopt;
    const std::string ttl = std::to_string(request.ttl.count());
    std::exception_ptr failure;
    try {
      co_await request.lab.pass(Point::betweenSetnxExpire);
      co_await redis_.command({"PEXPIRE", request.name, ttl});
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {  // ours already, so the finally of the rung before holds here too
      co_await release(request, *grant);
      std::rethrow_exception(failure);
    }
    grant->validFor = request.ttl;
    co_return grant;
  }
};

}  // namespace

StrategySpec redis_setnx_expire() {
  const std::string use = "strategy=redis-setnx-expire";
  return {
      .name = "redis-setnx-expire",
      .family = "redis ladder",
      .summary = "SETNX, then PEXPIRE: two commands, and a crash may fall between them",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::betweenSetnxExpire, Point::afterAcquire, Point::beforeWrite,
                 Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::safe, "SETNX lets one in"},
                   {"exception", Verdict::safe, "the holder deletes the key on every path"},
                   {"crash", Verdict::safe, "the key expires by itself"},
                   {"crash-before-expire", Verdict::stuck,
                    "the key was set and never got its life: it stays for ever"},
                   {"overrun", Verdict::oversold,
                    "the key expires while its holder still works, and the next one is let in"},
                   {"freeze", Verdict::oversold,
                    "the key expires while its holder stands still, and both write"},
                   {"failover", Verdict::oversold,
                    "replication is asynchronous: a promoted replica may not know the lock"},
                   {"clock-skew", Verdict::safe, "only Redis's own clock counts the life down"},
                   {"lost-reply", Verdict::safe, "the DEL took effect; only its reply is lost"}},
      .tryIt = {tryit::reset(10),
                tryit::sale(1, use + "&ttl=2000&fault=after-acquire:crash") +
                    "  # dies with a life set",
                tryit::sale(2, use) + "  # sold, when the 2 s are over",
                "scripts/stack start app-1",
                tryit::sale(1, use + "&ttl=2000&fault=between-setnx-expire:crash") +
                    "  # dies too early",
                tryit::redis("PTTL lock:demo") + "  # -1: no life",
                tryit::sale(2, use) + "  # 503 busy, and so for ever", "scripts/stack start app-1",
                tryit::redis("DEL lock:demo")},
      .make = guardedBy<SetnxExpire>("redis-setnx-expire"),
  };
}

}  // namespace turnstile::strategies
