// A row in `locks` is the lock: the unique key on its name lets one INSERT in, DELETE frees it. The row carries the
// owner and how often it has entered (reentry), and when it expires by the database's clock; its id grows with
// every grant and is the fence. A sweeper on every instance deletes what expired: deleting a row twice
// does nothing, so they need no leader. A lost race is no SQL error (the INSERT has ON DUPLICATE KEY), so a storm
// of them writes no log.
//
// Fair (`mysql-lock-fair`, the default): waiters stand in `lock_waiters` and only the first may INSERT. All stand
// in line, but of each process only the nearest asks whether it is its turn, so a long queue costs little. A
// waiter renews its row; a dead one's expires.
#include <algorithm>
#include <mutex>
#include <random>
#include <unordered_map>

#include "locks/guarded_sale.h"
#include "locks/registry.h"

namespace turnstile::strategies {
namespace {

constexpr Millis kWaiterLife{2'000};  // how long a dead waiter can hold up the queue
constexpr Millis kRenewAfter = kWaiterLife / 3;
constexpr Millis kFirstPause{2};   // of whoever is next
constexpr Millis kPauseAPlace{4};  // for each waiter before: less than a holder takes
constexpr int kShortestSweep = 200, kLongestSweep = 400;  // ms; random, so that instances spread out

// 1 row: inserted, the lock is ours. 2: it was ours and is entered again. 0: someone else's, left as it is.
// Both grants report the row's id.
constexpr std::string_view kInsert =
    "INSERT INTO locks (name, owner, expires_at) "
    "VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND) "
    "ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), "
    "holds = IF(owner = VALUES(owner), holds + 1, holds), "
    "expires_at = IF(owner = VALUES(owner), VALUES(expires_at), expires_at)";
constexpr std::string_view kLeave =
    "UPDATE locks SET holds = holds - 1 WHERE name = ? AND owner = ? AND holds > 1";
constexpr std::string_view kDelete = "DELETE FROM locks WHERE name = ? AND owner = ? AND holds = 1";
// Our place in the queue goes in the same step: later, it would hold up the next one.
constexpr std::string_view kDeleteWithPlace =
    "DELETE l, w FROM locks l LEFT JOIN lock_waiters w ON w.name = l.name AND w.owner = l.owner "
    "WHERE l.name = ? AND l.owner = ? AND l.holds = 1";

// The holder, and how many live waiters stand before us (all of them if we are not in the queue); a holder
// keeps its place and is not counted. Reads without locks, so that many may ask.
constexpr std::string_view kLook =
    "SELECT (SELECT owner FROM locks WHERE name = ?), "
    "(SELECT COUNT(*) FROM lock_waiters w WHERE w.name = ? AND w.expires_at > UTC_TIMESTAMP(3) "
    "AND w.owner NOT IN (SELECT owner FROM locks WHERE name = ?) "
    "AND w.ticket < COALESCE((SELECT me.ticket FROM lock_waiters me WHERE me.name = ? AND me.owner = ? "
    "AND me.expires_at > UTC_TIMESTAMP(3)), 18446744073709551615))";
constexpr std::string_view kStandInLine =
    "INSERT INTO lock_waiters (name, owner, expires_at) "
    "VALUES (?, ?, UTC_TIMESTAMP(3) + INTERVAL ? MICROSECOND) "
    "ON DUPLICATE KEY UPDATE ticket = LAST_INSERT_ID(ticket), expires_at = VALUES(expires_at)";
constexpr std::string_view kGiveUp = "DELETE FROM lock_waiters WHERE name = ? AND owner = ?";

constexpr std::string_view kExpired =
    "(SELECT 'lock', id FROM locks WHERE expires_at <= UTC_TIMESTAMP(3) LIMIT 100) UNION ALL "
    "(SELECT 'waiter', ticket FROM lock_waiters WHERE expires_at <= UTC_TIMESTAMP(3) LIMIT 100)";
constexpr std::string_view kSweepLock =
    "DELETE l, w FROM locks l LEFT JOIN lock_waiters w ON w.name = l.name AND w.owner = l.owner "
    "WHERE l.id = ? AND l.expires_at <= UTC_TIMESTAMP(3)";
constexpr std::string_view kSweepWaiter =
    "DELETE FROM lock_waiters WHERE ticket = ? AND expires_at <= UTC_TIMESTAMP(3)";

std::int64_t micros(Millis time) { return Micros{time}.count(); }

class UniqueIndex final : public LockDriver {
 public:
  UniqueIndex(Clock& clock, MySql& mysql, bool fair)
      : LockDriver(clock), mysql_(mysql), fair_(fair) {}

  Task<std::optional<Grant>> tryAcquire(const LockRequest& request) override {
    try {
      if (fair_) {
        const bool first = co_await firstInLine(request);
        if (!first) co_return std::nullopt;
      }
      const SqlResult row =
          co_await mysql_.exec(kInsert, {request.name, request.owner, micros(request.ttl)});
      if (row.affected == 0) co_return std::nullopt;
      leaveLine(request);
      co_return Grant{request.owner, row.insertId, request.ttl};
    } catch (const SqlError& error) {
      if (error.retryable()) co_return std::nullopt;
      leaveLine(request);
      throw;
    } catch (...) {
      leaveLine(request);  // its row expires
      throw;
    }
  }

  Task<> awaitRelease(const LockRequest& request, Millis atMost) override {
    if (!fair_) {
      co_await LockDriver::awaitRelease(request, atMost);
      co_return;
    }
    const auto patient = patience(request);
    const Millis pause = std::min(patient.second, atMost);
    co_await patient.first->wait(pause);
  }

  Task<bool> release(const LockRequest& request, const Grant& grant) override {
    const std::string_view statement = fair_ ? kDeleteWithPlace : kDelete;
    const SqlResult freed = co_await mysql_.exec(statement, {request.name, grant.owner});
    if (freed.affected > 0) {
      wakeNearest(request.name);
      co_return true;
    }
    const SqlResult left = co_await mysql_.exec(kLeave, {request.name, grant.owner});
    co_return left.affected > 0;
  }

  Task<> abandon(const LockRequest& request) override {
    if (!fair_) co_return;
    leaveLine(request);
    co_await mysql_.exec(kGiveUp, {request.name, request.owner});
  }

  Task<> reset(std::string name) override {
    co_await mysql_.exec("DELETE FROM locks WHERE name = ?", {name});
    co_await mysql_.exec("DELETE FROM lock_waiters WHERE name = ?", {name});
  }

  bool queuesItself() const override { return fair_; }

  void start() override {
    drogon::async_run([this]() -> Task<> { co_await sweepForever(); });
  }

 private:
  struct Place {
    std::string lock;
    std::uint64_t ticket = 0;  // 0: not in line yet
    int ahead = 0;             // as last seen
    TimePoint renewed;
    std::shared_ptr<Wakeup> wakeup = std::make_shared<Wakeup>();
  };

  // If not, we stand in line now.
  Task<bool> firstInLine(const LockRequest& request) {
    const SqlResult seen = co_await mysql_.exec(
        kLook, {request.name, request.name, request.name, request.name, request.owner});
    const std::string& holder = seen.rows[0][0];
    const int ahead = std::stoi(seen.rows[0][1]);
    if (holder == request.owner || (holder.empty() && ahead == 0)) co_return true;
    if (!mustRenew(request, ahead)) co_return false;
    const SqlResult stands =
        co_await mysql_.exec(kStandInLine, {request.name, request.owner, micros(kWaiterLife)});
    const std::lock_guard guard(mutex_);
    places_[request.owner].ticket = stands.insertId;
    co_return false;
  }

  bool mustRenew(const LockRequest& request, int ahead) {
    const std::lock_guard guard(mutex_);
    Place& place = places_[request.owner];
    place.lock = request.name;
    place.ahead = ahead;
    const TimePoint now = clock_.now();
    if (now - place.renewed < kRenewAfter) return false;
    place.renewed = now;
    return true;
  }

  // Whoever is not the nearest of this process sleeps until it is, or must renew.
  std::pair<std::shared_ptr<Wakeup>, Millis> patience(const LockRequest& request) {
    const std::lock_guard guard(mutex_);
    const Place& place = places_[request.owner];
    const Place* nearest = nearestOf(request.name);
    if (place.ticket != 0 && nearest != &place) return {place.wakeup, kRenewAfter};
    return {place.wakeup, std::min(kRenewAfter, std::max(kFirstPause, kPauseAPlace * place.ahead))};
  }

  const Place* nearestOf(const std::string& lock) const {
    const Place* nearest = nullptr;
    for (const auto& [owner, place] : places_)
      if (place.lock == lock && place.ticket != 0 && (!nearest || place.ticket < nearest->ticket))
        nearest = &place;
    return nearest;
  }
  void wakeNearest(const std::string& lock) {
    const std::lock_guard guard(mutex_);
    if (const Place* nearest = nearestOf(lock)) nearest->wakeup->wake();
  }
  void leaveLine(const LockRequest& request) {
    if (!fair_) return;
    {
      const std::lock_guard guard(mutex_);
      if (places_.erase(request.owner) == 0) return;
    }
    wakeNearest(request.name);
  }

  Task<> sweepForever() {
    std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<> pause(kShortestSweep, kLongestSweep);
    for (;;) {
      co_await clock_.sleep(Millis{pause(random)});
      try {
        const SqlResult expired = co_await mysql_.exec(kExpired, {});
        for (const auto& row : expired.rows)
          co_await mysql_.exec(row[0] == "lock" ? kSweepLock : kSweepWaiter, {row[1]});
      } catch (const std::exception&) {
        // MySQL is away, or another sweeper was in the way: the next round sees to it.
      }
    }
  }

  MySql& mysql_;
  const bool fair_;
  std::mutex mutex_;
  std::unordered_map<std::string, Place> places_;  // by owner, of this process's waiters
};

}  // namespace

StrategySpec mysql_unique_index() {
  return {
      .name = "mysql-unique-index",
      .family = "mysql",
      .summary = "INSERT under a unique key is the lock; owner, reentry, expiry with a sweeper, fair waiters",
      .stocks = {StockKind::mysql, StockKind::redis},
      .reentrant = true,
      .fenced = true,
      .points = {Point::afterAcquire, Point::beforeWrite, Point::afterWrite},
      .promises =
          {{"contention", Verdict::safe, "the unique key lets one row of a name in"},
           {"exception", Verdict::safe, "released on every path"},
           {"crash", Verdict::safe, "the row expires, and the sweeper of any instance deletes it"},
           {"overrun", Verdict::safe, "the row's id is a fence: the stock refuses the late write"},
           {"freeze", Verdict::safe, "the row's id is a fence: the stock refuses the late write"},
           {"clock-skew", Verdict::safe, "expiry is reckoned by the database's clock alone"}},
      .make =
          [](const Backends& backends) {
            return std::make_unique<GuardedSale>(
                backends,
                std::make_unique<UniqueIndex>(backends.clock, backends.mysql,
                                              backends.config.mysqlLockFair),
                GuardedSale::Options{"mysql-unique-index"});
          },
  };
}

}  // namespace turnstile::strategies
