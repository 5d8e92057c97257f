#include "locks/redis_rw_lock.h"

namespace turnstile {
namespace {

struct Keys {
  explicit Keys(const std::string& asked) {
    const std::string name = asked.substr(0, asked.find('#'));
    readers = RedisRwLock::readersKey(name);
    writer = name + ":writer";
    counts = name + ":counts";
    waiting = name + ":waiting";
  }
  std::string readers, writer, counts, waiting;
};

// KEYS: readers, writer (sorted sets: owner -> its end in ms), counts (hash: how often each holds
// it), waiting (sorted set: writers -> until when they keep readers out). ARGV[1]: the owner. Those
// whose end has come are dropped first: they are dead, or believe so themselves.
constexpr std::string_view kPrelude = R"lua(
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local readers, writer, counts, waiting, me = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
local function drop(set, mark)
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', now)) do
    redis.call('ZREM', set, gone)
    redis.call('HDEL', counts, mark .. gone)
  end
end
drop(readers, 'r')
drop(writer, 'w')
redis.call('ZREMRANGEBYSCORE', waiting, '-inf', now)
local function holds(set) return redis.call('ZSCORE', set, me) end
local function enter(set, mark, ttl)
  redis.call('ZADD', set, now + ttl, me)
  redis.call('HINCRBY', counts, mark .. me, 1)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ttl + 60000) end
  return 1
end
)lua";

// ARGV[2]: TTL.
const Script kRead(std::string(kPrelude) + R"lua(
if not holds(readers) and not holds(writer) and
    redis.call('ZCARD', writer) + redis.call('ZCARD', waiting) > 0 then return 0 end
return enter(readers, 'r', tonumber(ARGV[2])))lua");

// ARGV[2]: TTL. ARGV[3]: how long this attempt keeps new readers out; the next attempt comes
// sooner.
const Script kWrite(std::string(kPrelude) + R"lua(
local others = redis.call('ZCARD', readers) - (holds(readers) and 1 or 0)
if not holds(writer) and (redis.call('ZCARD', writer) > 0 or others > 0) then
  redis.call('ZADD', waiting, now + ARGV[3], me)
  redis.call('PEXPIRE', waiting, 60000)
  return 0
end
redis.call('ZREM', waiting, me)
return enter(writer, 'w', tonumber(ARGV[2])))lua");

// ARGV[2]: 'r' or 'w'. Reply 0: no longer ours.
const Script kRelease(std::string(kPrelude) + R"lua(
local set = ARGV[2] == 'r' and readers or writer
if not holds(set) then return 0 end
if redis.call('HINCRBY', counts, ARGV[2] .. me, -1) <= 0 then
  redis.call('HDEL', counts, ARGV[2] .. me)
  redis.call('ZREM', set, me)
end
return 1)lua");

// ARGV[2]: 'r' or 'w'. ARGV[3]: TTL. Reply 0: no longer ours.
const Script kRenew(std::string(kPrelude) + R"lua(
local set = ARGV[2] == 'r' and readers or writer
if not holds(set) then return 0 end
redis.call('ZADD', set, now + ARGV[3], me)
redis.call('PEXPIRE', set, ARGV[3] + 60000)
redis.call('PEXPIRE', counts, ARGV[3] + 60000)
return 1)lua");

constexpr std::string_view kKeepReadersOut = "1000";  // ms

std::string markOf(RedisRwLock::Mode mode) { return std::string(1, static_cast<char>(mode)); }

}  // namespace

Task<std::optional<Grant>> RedisRwLock::tryAcquire(const LockRequest& request) {
  const Keys keys(request.name);
  const std::string ttl = std::to_string(request.ttl.count());
  Reply reply;
  if (mode_ == Mode::read)
    reply = co_await redis_.run(kRead, {keys.readers, keys.writer, keys.counts, keys.waiting},
                                {request.owner, ttl});
  else
    reply = co_await redis_.run(kWrite, {keys.readers, keys.writer, keys.counts, keys.waiting},
                                {request.owner, ttl, kKeepReadersOut});
  if (reply.integer != 1) co_return std::nullopt;
  Grant grant;
  grant.owner = request.owner;
  grant.validFor = request.ttl;
  co_return grant;
}

Task<bool> RedisRwLock::renew(const LockRequest& request, const Grant& grant) {
  const Keys keys(request.name);
  const std::string mark = markOf(mode_);
  const std::string ttl = std::to_string(request.ttl.count());
  const Reply reply = co_await redis_.run(
      kRenew, {keys.readers, keys.writer, keys.counts, keys.waiting}, {grant.owner, mark, ttl});
  co_return reply.integer == 1;
}

Task<bool> RedisRwLock::release(const LockRequest& request, const Grant& grant) {
  const Keys keys(request.name);
  const std::string mark = markOf(mode_);
  const Reply reply = co_await redis_.run(
      kRelease, {keys.readers, keys.writer, keys.counts, keys.waiting}, {grant.owner, mark});
  co_return reply.integer == 1;
}

Task<> RedisRwLock::abandon(const LockRequest& request) {
  if (mode_ == Mode::read) co_return;
  const Keys keys(request.name);
  co_await redis_.command({"ZREM", keys.waiting, request.owner});
}

Task<> RedisRwLock::reset(std::string name) {
  const Keys keys(name);
  co_await redis_.command({"DEL", keys.readers, keys.writer, keys.counts, keys.waiting});
}

}  // namespace turnstile
