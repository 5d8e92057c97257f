#include "app/redis_stock.h"

#include <charconv>

#include "app/errors.h"

namespace turnstile {
namespace {

// "event:{demo}:stock": the braces keep an event's keys on one server of a cluster.
std::string keyOf(std::string_view event, std::string_view what) {
  std::string key;
  key.reserve(sizeof("event:{}:") + event.size() + what.size());
  return key.append("event:{").append(event).append("}:").append(what);
}

struct Keys {
  explicit Keys(std::string_view event)
      : stock(keyOf(event, "stock")), ledger(keyOf(event, "ledger")) {}
  std::string stock, ledger;
};
std::string sizeKey(std::string_view event) { return keyOf(event, "size"); }
std::string fenceKey(std::string_view event) { return keyOf(event, "fence"); }

// KEYS: stock, ledger. ARGV[1]: the sale without its seat. The count stays a text beside the number: Lua
// takes longer to write a number out than Redis takes to deduct.
constexpr std::string_view kRead = R"lua(
local count = redis.call('GET', KEYS[1]) or error({err = 'UNKNOWNEVENT'})
local remaining = tonumber(count)
)lua";

// KEYS: stock, ledger. ARGV: new count, the sale. No check: the strategy's lock is the check.
const Script kWrite(R"lua(
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 1)lua");

// KEYS: stock, ledger, fence. ARGV: new count, the sale, the holder's fence.
const Script kFencedWrite(R"lua(
if tonumber(redis.call('GET', KEYS[3]) or 0) > tonumber(ARGV[3]) then return 0 end
redis.call('SET', KEYS[3], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 1)lua");

// KEYS: stock, ledger, fence. ARGV: the count after, the sales, the holder's fence or 0. The count is the
// holder's: nothing but lock and fence makes it true. The fence must be equal, not just no older: a
// reset takes it away.
const Script kWriteMany(R"lua(
if ARGV[3] ~= '0' and redis.call('GET', KEYS[3]) ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 1)lua");

// KEYS: stock, fence. ARGV[1]: the reader's fence. Remembering it here closes the gap in which an
// older holder writes between a younger one's read and write.
const Script kFencedRead(R"lua(
local count = redis.call('GET', KEYS[1])
if not count then return 'UNKNOWNEVENT' end
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[1]) then return 'STALE' end
redis.call('SET', KEYS[2], ARGV[1])
return tonumber(count))lua");

// KEYS: stock, lock. ARGV: the owner, ms to live. Reply: nil: someone else has the lock; else the count,
// and with a count of 0 the lock was not kept.
const Script kLockAndRead(R"lua(
if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return nil end
local count = redis.call('GET', KEYS[1])
if count and tonumber(count) > 0 then return tonumber(count) end
redis.call('DEL', KEYS[2])
return count and 0 or 'UNKNOWNEVENT')lua");

// KEYS: stock, ledger, lock. ARGV: new count, the sale, the owner, 1 to check that the lock is theirs.
const Script kWriteAndUnlock(R"lua(
local mine = redis.call('GET', KEYS[3]) == ARGV[3]
if ARGV[4] == '1' and not mine then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[2])
if mine then redis.call('DEL', KEYS[3]) end
return 1)lua");

// KEYS: stock, ledger, size, fence. ARGV[1]: seats.
const Script kReset(R"lua(
redis.call('UNLINK', KEYS[2], KEYS[4])
redis.call('MSET', KEYS[1], ARGV[1], KEYS[3], ARGV[1])
return 1)lua");

// KEYS: stock, ledger, size. One step, so that a running sale cannot make the two disagree.
const Script kCount(R"lua(
return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[3]), redis.call('LLEN', KEYS[2])})lua");

template <class Int>
Int parse(std::string_view text) {
  Int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "42|…": seat 42; "42+3|…": the seats 42, 41 and 40.
void addSeats(std::string_view line, std::vector<int>& seats) {
  int seat = 0;
  int count = 1;
  const char* const end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, seat);
  if (error == std::errc{} && rest != end && *rest == '+') std::from_chars(rest + 1, end, count);
  for (int i = 0; i < count; ++i) seats.push_back(seat - i);
}

}  // namespace

const std::string_view StockScript::kTake = R"lua(
redis.call('DECR', KEYS[1])
redis.call('RPUSH', KEYS[2], count .. '|' .. ARGV[1])
)lua";

// One line for all of them, put together by the caller but for the seats: what Redis spends here, all
// buyers of all instances wait for.
const std::string_view StockScript::kTakeMany = R"lua(
local sold = math.max(0, math.min(remaining, buyers))
if sold > 0 then
  if sold < buyers then
    local comma = 0
    for _ = 1, sold do comma = string.find(names, ',', comma + 1, true) end
    names = string.sub(names, 1, comma - 1)
  end
  redis.call('DECRBY', KEYS[1], sold)
  redis.call('RPUSH', KEYS[2], count .. '+' .. sold .. '|' .. ARGV[1] .. names)
end
)lua";

StockScript::StockScript(const std::vector<std::string_view>& pieces)
    : script_([&] {
        std::string text(kRead);
        for (const std::string_view piece : pieces) text.append(piece).append("\n");
        return text;
      }()) {}

Task<> RedisStock::reset(std::string event, int seats) {
  const Keys keys(event);
  const std::string size = sizeKey(event);
  const std::string fence = fenceKey(event);
  const std::string count = std::to_string(seats);
  co_await redis_.run(kReset, {keys.stock, keys.ledger, size, fence}, {count});
}

Task<Tally> RedisStock::tally(std::string event) {
  constexpr std::int64_t kPage = 20'000;  // a page keeps Redis free for others
  const Keys keys(event);
  const std::string size = sizeKey(event);
  const Reply counts = co_await redis_.run(kCount, {keys.stock, keys.ledger, size}, {});
  Tally tally;
  if (counts.list.size() != 3 || counts.list[0].isNil()) co_return tally;
  tally.exists = true;
  // Below zero is a buyer of redis-decr on the way to give back what it did not get: no seat, so
  // none remains. A sale below seat 1 would stand in the ledger.
  tally.remaining = std::max<std::int64_t>(0, parse<std::int64_t>(counts.list[0].text));
  tally.size = parse<std::int64_t>(counts.list[1].text);
  const std::int64_t lines = counts.list[2].integer;
  tally.seats.reserve(static_cast<std::size_t>(lines));
  for (std::int64_t from = 0; from < lines; from += kPage) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(std::min(from + kPage, lines) - 1);
    const Reply page = co_await redis_.command({"LRANGE", keys.ledger, first, last});
    for (const Reply& line : page.list) addSeats(line.text, tally.seats);
  }
  co_return tally;
}

Task<std::optional<int>> RedisStock::read(std::string event, std::uint64_t fence) try {
  const std::string stock = keyOf(event, "stock");
  if (fence == 0) {
    const Reply count = co_await redis_.command({"GET", stock});
    if (count.isNil()) throw UnknownEvent(event);
    co_return parse<int>(count.text);
  }
  const std::string token = std::to_string(fence);
  const std::string latest = fenceKey(event);
  const Reply reply = co_await redis_.run(kFencedRead, {stock, latest}, {token});
  if (reply.text == "UNKNOWNEVENT") throw UnknownEvent(event);
  if (reply.text == "STALE") co_return std::nullopt;
  co_return static_cast<int>(reply.integer);
} catch (const BackendTimeout& timeout) {
  throw BackendDown(timeout.backend, "no reply to a read; nothing was sold");
}

Task<bool> RedisStock::write(std::string event, int remaining, LedgerEntry entry) {
  const Keys keys(event);
  const std::string count = std::to_string(remaining);
  const std::string line = std::to_string(remaining + 1) + '|' + entry.text();
  if (entry.fence == 0) {
    co_await redis_.run(kWrite, {keys.stock, keys.ledger}, {count, line});
    co_return true;
  }
  const std::string latest = fenceKey(event);
  const std::string fence = std::to_string(entry.fence);
  const Reply reply =
      co_await redis_.run(kFencedWrite, {keys.stock, keys.ledger, latest}, {count, line, fence});
  co_return reply.integer == 1;
}

Task<std::optional<int>> RedisStock::lockAndRead(std::string event, std::string lock,
                                                 std::string owner, Millis ttl) {
  const std::string stock = keyOf(event, "stock");
  const std::string life = std::to_string(ttl.count());
  const Reply reply = co_await redis_.run(kLockAndRead, {stock, lock}, {owner, life});
  if (reply.isNil()) co_return std::nullopt;
  if (reply.text == "UNKNOWNEVENT") throw UnknownEvent(event);
  co_return static_cast<int>(reply.integer);
}

Task<bool> RedisStock::writeAndUnlock(std::string event, int remaining, LedgerEntry entry,
                                      std::string lock, std::string owner, bool check) {
  const Keys keys(event);
  const std::string count = std::to_string(remaining);
  const std::string line = std::to_string(remaining + 1) + '|' + entry.text();
  const Reply reply = co_await redis_.run(kWriteAndUnlock, {keys.stock, keys.ledger, lock},
                                          {count, line, owner, check ? "1" : "0"});
  co_return reply.integer == 1;
}

void Buyers::add(std::string_view name) {
  if (count_++ > 0) names_ += ',';
  names_ += name;
}

Task<bool> RedisStock::writeMany(std::string event, int remaining, LedgerEntry entry,
                                 Buyers buyers) {
  const Keys keys(event);
  const std::string after = std::to_string(remaining - buyers.count());
  const std::string line = std::to_string(remaining) + '+' + std::to_string(buyers.count()) + '|' +
                           entry.text() + buyers.names();
  const std::string latest = fenceKey(event);
  const std::string fence = std::to_string(entry.fence);
  const Reply reply =
      co_await redis_.run(kWriteMany, {keys.stock, keys.ledger, latest}, {after, line, fence});
  co_return reply.integer == 1;
}

Task<Reply> RedisStock::run(const StockScript& script, std::string_view event, LedgerEntry entry,
                            Args args) {
  const Keys keys(event);
  const std::string line = entry.text();
  Args all{line};
  all.addAll(args);
  try {
    co_return co_await redis_.run(script.script(), {keys.stock, keys.ledger}, std::move(all));
  } catch (const RedisError& error) {
    if (std::string_view(error.what()).find("UNKNOWNEVENT") != std::string_view::npos)
      throw UnknownEvent(std::string(event));
    throw;
  }
}

}  // namespace turnstile
