// The stock on one Redis server is its ledger, the list `event:{id}:ledger`: the count at the start, then for each sale a
// line that says who and the count after it. So the count is the last entry, and one RPUSH is a sale: two commands,
// a counter and a log, would reach the append-only file and the replica as four, wrapped into MULTI and
// EXEC. The youngest fence seen is beside it. Strategies that deduct without a lock compose their own script from
// StockScript.
#pragma once

#include "app/redis.h"
#include "app/stock.h"
#include "app/time.h"

namespace turnstile {

/// A script that sells, put together from pieces of Lua. It starts with the count read, as the number
/// `remaining`; an event that is not there has ended it by then. kTake and kTakeMany are the pieces that
/// sell: count and ledger in one atomic step. Pieces and not functions: Lua would make each
/// function anew at every call, which cost a tenth of a sale's time in Redis.
///   StockScript kSellOne("if remaining <= 0 then return 0 end", StockScript::kTake, "return
///   remaining");
/// The body sees its own arguments from ARGV[kFirstArg] on.
class StockScript {
 public:
  static constexpr int kFirstArg = 2;

  /// Sells seat `remaining`, which must be one.
  static const std::string_view kTake;
  /// Sells the seats `remaining`, `remaining - 1`, … to as many of the local `names` (Buyers::names),
  /// whose number is the local `buyers`, as there are seats. The entry's own user is empty then.
  static const std::string_view kTakeMany;

  template <class... Piece>
  explicit StockScript(const Piece&... pieces)
      : StockScript(std::vector<std::string_view>{pieces...}) {}
  const Script& script() const { return script_; }

 private:
  explicit StockScript(const std::vector<std::string_view>& pieces);
  Script script_;
};

/// A StockScript and its reply, awaited like an Exchange. Keeps what it sends, but for `event` and `args`.
class StockExchange {
 public:
  StockExchange(Redis& redis, const StockScript& script, std::string_view event,
                const LedgerEntry& entry, const Args& args);

  bool await_ready() const { return exchange_.await_ready(); }
  void await_suspend(std::coroutine_handle<> waiter) { exchange_.await_suspend(waiter); }
  Reply await_resume();

 private:
  std::string_view event_;
  std::string ledger_;
  std::string line_;
  Exchange exchange_;
};

/// The buyers of one batch, who share one line of the ledger: "+count|…|name,name,…". Names contain
/// no comma (controllers check them).
class Buyers {
 public:
  void add(std::string_view name);
  int count() const { return count_; }
  const std::string& names() const { return names_; }

 private:
  int count_ = 0;
  std::string names_;
};

class RedisStock final : public Stock {
 public:
  explicit RedisStock(Redis& redis, std::string name = "redis")
      : redis_(redis), name_(std::move(name)) {}

  /// The list itself, for a lock on the same server that reads the count as it is granted.
  static std::string ledgerKey(std::string_view event);
  /// Of the list's last entry; nullopt: there was none.
  static std::optional<int> countIn(const Reply& last);

  std::string_view name() const override { return name_; }
  Task<> reset(std::string event, int seats) override;
  Task<Tally> tally(std::string event) override;
  Task<std::optional<int>> read(std::string event, std::uint64_t fence) override;
  Task<bool> write(std::string event, int remaining, LedgerEntry entry) override;

  /// For a lock that lives beside the stock, on its server: locked and read in one step, written and
  /// unlocked in one. `lock` is its key. The count; 0: sold out, and the lock was given back at once.
  /// nullopt: someone else has the lock.
  Task<std::optional<int>> lockAndRead(std::string event, std::string lock, std::string owner,
                                       Millis ttl);
  /// false: the lock is no longer the owner's, nothing written. Without `check` it is written anyway.
  Task<bool> writeAndUnlock(std::string event, int remaining, LedgerEntry entry, std::string lock,
                            std::string owner, bool check);

  /// A holder's write for many buyers at once: the seats `remaining`, `remaining - 1`, … to
  /// `buyers`, who are at most `remaining`. With a fence (not 0) it is written only
  /// while that fence is the one the last read(…, fence) left, so also never after a reset. false:
  /// nothing written.
  Task<bool> writeMany(std::string event, int remaining, LedgerEntry entry, Buyers buyers);

  /// One round trip, ledger included. Throws UnknownEvent when the script found no stock.
  StockExchange run(const StockScript& script, std::string_view event, const LedgerEntry& entry,
                    const Args& args = {}) {
    return {redis_, script, event, entry, args};
  }

 private:
  Redis& redis_;
  std::string name_;
};

}  // namespace turnstile
