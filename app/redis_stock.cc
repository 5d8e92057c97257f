#include "app/redis_stock.h"

#include <charconv>

#include "app/errors.h"

namespace turnstile {
namespace {

struct Keys {
  explicit Keys(std::string_view event) {
    const std::string prefix = "event:{" + std::string(event) + "}:";
    stock = prefix + "stock";
    ledger = prefix + "ledger";
    size = prefix + "size";
    fence = prefix + "fence";
  }
  std::string stock, ledger, size, fence;
};

// KEYS: stock, ledger. ARGV[1]: the sale without its seat.
constexpr std::string_view kPrelude = R"lua(
local function remaining()
  local count = redis.call('GET', KEYS[1])
  if not count then error({err = 'UNKNOWNEVENT'}) end
  return tonumber(count)
end
local function take(seat)
  redis.call('SET', KEYS[1], seat - 1)
  redis.call('RPUSH', KEYS[2], seat .. '|' .. ARGV[1])
end
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

// KEYS: stock, fence. ARGV[1]: the reader's fence. Remembering it here closes the gap in which an older
// holder writes between a younger one's read and write.
const Script kFencedRead(R"lua(
local count = redis.call('GET', KEYS[1])
if not count then return 'UNKNOWNEVENT' end
if tonumber(redis.call('GET', KEYS[2]) or 0) > tonumber(ARGV[1]) then return 'STALE' end
redis.call('SET', KEYS[2], ARGV[1])
return tonumber(count))lua");

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

}  // namespace

StockScript::StockScript(std::string_view body)
    : script_(std::string(kPrelude) + std::string(body)) {}

Task<> RedisStock::reset(std::string event, int seats) {
  const Keys keys(event);
  const std::string count = std::to_string(seats);
  co_await redis_.run(kReset, {keys.stock, keys.ledger, keys.size, keys.fence}, {count});
}

Task<Tally> RedisStock::tally(std::string event) {
  constexpr std::int64_t kPage = 20'000;  // a page keeps Redis free for others
  const Keys keys(event);
  const Reply counts = co_await redis_.run(kCount, {keys.stock, keys.ledger, keys.size}, {});
  Tally tally;
  if (counts.list.size() != 3 || counts.list[0].isNil()) co_return tally;
  tally.exists = true;
  tally.remaining = parse<std::int64_t>(counts.list[0].text);
  tally.size = parse<std::int64_t>(counts.list[1].text);
  const std::int64_t sold = counts.list[2].integer;
  tally.seats.reserve(static_cast<std::size_t>(sold));
  for (std::int64_t from = 0; from < sold; from += kPage) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(std::min(from + kPage, sold) - 1);
    const Reply page = co_await redis_.command({"LRANGE", keys.ledger, first, last});
    for (const Reply& line : page.list) tally.seats.push_back(parse<int>(line.text));
  }
  co_return tally;
}

Task<std::optional<int>> RedisStock::read(std::string event, std::uint64_t fence) try {
  const Keys keys(event);
  if (fence == 0) {
    const Reply count = co_await redis_.command({"GET", keys.stock});
    if (count.isNil()) throw UnknownEvent(event);
    co_return parse<int>(count.text);
  }
  const std::string token = std::to_string(fence);
  const Reply reply = co_await redis_.run(kFencedRead, {keys.stock, keys.fence}, {token});
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
  const std::string fence = std::to_string(entry.fence);
  const Reply reply = co_await redis_.run(kFencedWrite, {keys.stock, keys.ledger, keys.fence},
                                          {count, line, fence});
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
