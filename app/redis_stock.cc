#include "app/redis_stock.h"

#include <charconv>

#include "app/cat.h"
#include "app/errors.h"

namespace turnstile {
namespace {

// "event:{demo}:ledger": the braces keep an event's keys on one server of a cluster.
std::string keyOf(std::string_view event, std::string_view what) {
  return cat("event:{", event, "}:", what);
}

std::string fenceKey(std::string_view event) { return keyOf(event, "fence"); }

// KEYS[1]: ledger. ARGV[1]: the sale.
constexpr std::string_view kRead = R"lua(
local remaining = (redis.call('LINDEX', KEYS[1], '-1') or error({err = 'UNKNOWNEVENT'})) + 0
)lua";

// KEYS[1]: ledger. ARGV: the sale, new count. No check: the strategy's lock is the check.
const Script kWrite("redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2]) return 1");

// KEYS: ledger, fence. ARGV: the sale, new count, the holder's fence.
const Script kFencedWrite(R"lua(
local latest = redis.call('GET', KEYS[2])
if latest ~= ARGV[3] then
  if tonumber(latest or 0) > tonumber(ARGV[3]) then return 0 end
  redis.call('SET', KEYS[2], ARGV[3])
end
redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2])
return 1)lua");

// KEYS: ledger, fence. ARGV: the sales, the count after, the holder's fence or 0. The count is the
// holder's: nothing but lock and fence makes it true. The fence must be equal, not just no older: a
// reset takes it away.
const Script kWriteMany(R"lua(
if ARGV[3] ~= '0' and redis.call('GET', KEYS[2]) ~= ARGV[3] then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2])
return 1)lua");

// KEYS: ledger, fence. ARGV[1]: the reader's fence. Remembering it here closes the gap in which an
// older holder writes between a younger one's read and write.
const Script kFencedRead(R"lua(
local count = redis.call('LINDEX', KEYS[1], '-1')
if not count then return 'UNKNOWNEVENT' end
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[1]) then return 'STALE' end
redis.call('SET', KEYS[2], ARGV[1])
return tonumber(count))lua");

// KEYS: ledger, lock. ARGV: the owner, ms to live. Reply: nil: someone else has the lock; else the count,
// and with a count of 0 the lock was not kept.
const Script kLockAndRead(R"lua(
if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
local count = redis.call('LINDEX', KEYS[1], '-1')
if count and tonumber(count) > 0 then return tonumber(count) end
redis.call('DEL', KEYS[2])
return count and 0 or 'UNKNOWNEVENT')lua");

// KEYS: ledger, lock. ARGV: the sale, new count, the owner, 1 to check that the lock is theirs.
const Script kWriteAndUnlock(R"lua(
local mine = redis.call('GET', KEYS[2]) == ARGV[3]
if ARGV[4] == '1' and not mine then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2])
if mine then redis.call('DEL', KEYS[2]) end
return 1)lua");

// KEYS: ledger, fence. ARGV[1]: seats.
const Script kReset(R"lua(
redis.call('UNLINK', KEYS[1], KEYS[2])
return redis.call('RPUSH', KEYS[1], ARGV[1]))lua");

// KEYS[1]: ledger. Reply: seats at the start, seats now, length. One step, so that a running sale cannot make
// them disagree.
const Script kCount(R"lua(
return {redis.call('LINDEX', KEYS[1], '0'), redis.call('LINDEX', KEYS[1], '-1'), redis.call('LLEN', KEYS[1])})lua");

Args behind(std::string_view first, const Args& others) {
  Args all{first};
  all.addAll(others);
  return all;
}

template <class Int>
Int parse(std::string_view text) {
  Int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A sale and the count after it: "…|user" and 41 are seat 42; "+3|…" and 41 are the seats 44, 43 and 42. No
// sale at all: the count changed by itself.
void addSeats(std::string_view sale, int after, std::vector<int>& seats) {
  int count = sale.empty() ? 0 : 1;
  if (sale.starts_with('+')) count = parse<int>(sale.substr(1));
  for (; count > 0; --count) seats.push_back(after + count);
}

}  // namespace

// Numbers go to Redis as text where every sale comes by: a Lua number it writes out with seventeen digits (7.0), which
// takes 2,400 instructions and more.
const std::string_view StockScript::kTake =
    "redis.call('RPUSH', KEYS[1], ARGV[1], string.format('%d', remaining - 1))\n";

// One line for all of them, put together by the caller but for their number: what Redis spends here, all
// buyers of all instances wait for.
const std::string_view StockScript::kTakeMany = R"lua(
local sold = math.max(0, math.min(remaining, buyers))
if sold > 0 then
  if sold < buyers then
    local comma = 0
    for _ = 1, sold do comma = string.find(names, ',', comma + 1, true) end
    names = string.sub(names, 1, comma - 1)
  end
  redis.call('RPUSH', KEYS[1], string.format('+%d|%s%s', sold, ARGV[1], names), string.format('%d', remaining - sold))
end
)lua";

StockScript::StockScript(const std::vector<std::string_view>& pieces)
    : script_([&] {
        std::string text(kRead);
        for (const std::string_view piece : pieces) text.append(piece).append("\n");
        return text;
      }()) {}

StockExchange::StockExchange(Redis& redis, const StockScript& script, std::string_view event,
                             const LedgerEntry& entry, const Args& args)
    : event_(event),
      ledger_(RedisStock::ledgerKey(event)),
      line_(entry.text()),
      exchange_(redis, script.script(), ledger_, behind(line_, args)) {}

Reply StockExchange::await_resume() try {
  return exchange_.await_resume();
} catch (const RedisError& error) {
  if (std::string_view(error.what()).find("UNKNOWNEVENT") != std::string_view::npos)
    throw UnknownEvent(std::string(event_));
  throw;
}

std::string RedisStock::ledgerKey(std::string_view event) { return keyOf(event, "ledger"); }

std::optional<int> RedisStock::countIn(const Reply& last) {
  if (last.isNil()) return std::nullopt;
  return parse<int>(last.text);
}

Task<> RedisStock::reset(std::string event, int seats) {
  const std::string ledger = ledgerKey(event);
  const std::string fence = fenceKey(event);
  const std::string count = std::to_string(seats);
  co_await redis_.run(kReset, {ledger, fence}, {count});
}

Task<Tally> RedisStock::tally(std::string event) {
  constexpr std::int64_t kPage = 40'000;  // entries, two a sale; a page keeps Redis free for others
  const std::string ledger = ledgerKey(event);
  const Reply counts = co_await redis_.run(kCount, {ledger}, {});
  Tally tally;
  if (counts.list.size() != 3 || counts.list[0].isNil()) co_return tally;
  tally.exists = true;
  tally.size = parse<std::int64_t>(counts.list[0].text);
  tally.remaining = parse<std::int64_t>(counts.list[1].text);
  const std::int64_t end = counts.list[2].integer;
  tally.seats.reserve(static_cast<std::size_t>(end / 2));
  for (std::int64_t from = 1; from < end; from += kPage) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(std::min(from + kPage, end) - 1);
    const Reply page = co_await redis_.command({"LRANGE", ledger, first, last});
    for (std::size_t i = 0; i + 1 < page.list.size(); i += 2)
      addSeats(page.list[i].text, parse<int>(page.list[i + 1].text), tally.seats);
  }
  co_return tally;
}

Task<std::optional<int>> RedisStock::read(std::string event, std::uint64_t fence) try {
  const std::string ledger = ledgerKey(event);
  if (fence == 0) {
    const Reply count = co_await redis_.command({"LINDEX", ledger, "-1"});
    if (count.isNil()) throw UnknownEvent(event);
    co_return countIn(count);
  }
  const std::string token = std::to_string(fence);
  const std::string latest = fenceKey(event);
  const Reply reply = co_await redis_.run(kFencedRead, {ledger, latest}, {token});
  if (reply.text == "UNKNOWNEVENT") throw UnknownEvent(event);
  if (reply.text == "STALE") co_return std::nullopt;
  co_return static_cast<int>(reply.integer);
} catch (const BackendTimeout& timeout) {
  throw BackendDown(timeout.backend, "no reply to a read; nothing was sold");
}

Task<bool> RedisStock::write(std::string event, int remaining, LedgerEntry entry) {
  const std::string ledger = ledgerKey(event);
  const std::string count = std::to_string(remaining);
  const std::string line = entry.text();
  if (entry.fence == 0) {
    co_await redis_.run(kWrite, {ledger}, {line, count});
    co_return true;
  }
  const std::string latest = fenceKey(event);
  const std::string fence = std::to_string(entry.fence);
  const Reply reply = co_await redis_.run(kFencedWrite, {ledger, latest}, {line, count, fence});
  co_return reply.integer == 1;
}

Task<std::optional<int>> RedisStock::lockAndRead(std::string event, std::string lock,
                                                 std::string owner, Millis ttl) {
  const std::string ledger = ledgerKey(event);
  const std::string life = std::to_string(ttl.count());
  const Reply reply = co_await redis_.run(kLockAndRead, {ledger, lock}, {owner, life});
  if (reply.isNil()) co_return std::nullopt;
  if (reply.text == "UNKNOWNEVENT") throw UnknownEvent(event);
  co_return static_cast<int>(reply.integer);
}

Task<bool> RedisStock::writeAndUnlock(std::string event, int remaining, LedgerEntry entry,
                                      std::string lock, std::string owner, bool check) {
  const std::string ledger = ledgerKey(event);
  const std::string count = std::to_string(remaining);
  const std::string line = entry.text();
  const Reply reply = co_await redis_.run(kWriteAndUnlock, {ledger, lock},
                                          {line, count, owner, check ? "1" : "0"});
  co_return reply.integer == 1;
}

void Buyers::add(std::string_view name) {
  if (count_++ > 0) names_ += ',';
  names_ += name;
}

Task<bool> RedisStock::writeMany(std::string event, int remaining, LedgerEntry entry,
                                 Buyers buyers) {
  const std::string ledger = ledgerKey(event);
  const std::string line =
      '+' + std::to_string(buyers.count()) + '|' + entry.text() + buyers.names();
  const std::string after = std::to_string(remaining - buyers.count());
  const std::string latest = fenceKey(event);
  const std::string fence = std::to_string(entry.fence);
  const Reply reply = co_await redis_.run(kWriteMany, {ledger, latest}, {line, after, fence});
  co_return reply.integer == 1;
}

}  // namespace turnstile
