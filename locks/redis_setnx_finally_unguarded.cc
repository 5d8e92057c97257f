// The `finally` as articles print it: SETNX stands inside the `try`, the refused caller returns
// from there, and its `finally` sends the DEL too. So whoever does not get the lock deletes it, and
// the next attempt is let in beside the holder: this oversells under plain contention, with no
// fault at all. The fix is redis_setnx_finally.cc: a loser must not delete, it never held the lock.
#include "locks/redis_key_lock.h"
#include "locks/registry.h"
#include "locks/try_it.h"

namespace turnstile::strategies {
namespace {

class SetnxFinallyUnguarded final : public SetnxLock {
 public:
  using SetnxLock::SetnxLock;
  bool releasesWhenRefused() const override { return true; }  // the lesson of this rung
  // Nobody queues in the process either: one behind the other on one connection, the callers of a single
  // instance would by accident be in step, and the flaw be gone.
  bool queuesItself() const override { return true; }
  bool canTakeBack() const override { return true; }  // its finally also runs when SETNX throws
};

}  // namespace

StrategySpec redis_setnx_finally_unguarded() {
  const std::string use = "strategy=redis-setnx-finally-unguarded";
  return {
      .name = "redis-setnx-finally-unguarded",
      .family = "redis ladder",
      .summary =
          "SETNX inside the try, as often printed: a loser's finally deletes the winner's lock",
      .stocks = {StockKind::redis, StockKind::mysql},
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite, Point::unlockReply},
      .promises = {{"contention", Verdict::oversold,
                    "whoever is refused deletes the holder's lock, and the next one is let in"},
                   {"exception", Verdict::safe, "the finally deletes the key on every path"},
                   {"crash", Verdict::safe,
                    "the next one refused deletes the dead holder's lock, as it deletes any"},
                   {"overrun", Verdict::oversold,
                    "the longer the work, the surer a refused caller deletes the lock meanwhile"},
                   {"freeze", Verdict::oversold,
                    "a refused caller deletes the frozen holder's lock"}},
      .tryIt = {tryit::reset(10),
                tryit::background(1, use + "&hold=3000") + "  # holds the lock for 3 s", "sleep 1",
                tryit::sale(2, use + "&wait=0") + "  # 503 busy, and deletes the lock",
                tryit::sale(3, use + "&wait=0") + "  # sold while the first still works", "wait",
                tryit::audit() + "  # oversold: one seat twice"},
      .make = guardedBy<SetnxFinallyUnguarded>("redis-setnx-finally-unguarded"),
  };
}

}  // namespace turnstile::strategies
