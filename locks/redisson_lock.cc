#include "locks/redisson_lock.h"

#include <random>
#include <utility>

namespace turnstile {
namespace {

// KEYS[1]: the lock. ARGV: lease in ms, owner. Reply: 1, or 0 when it is not this owner's.
const Script kRenew(R"lua(
if redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[1]))lua");

// Reply: 1 it is free now, 0 its owner still has it some times, nil it was not this owner's.
constexpr std::string_view kUnlockHead = R"lua(
if KEYS[4] ~= KEYS[3] then redis.call('DEL', KEYS[4]) end
local result = redis.call('GET', KEYS[3])
if result then return tonumber(result) end
if redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0 then return nil end
if redis.call('HINCRBY', KEYS[1], ARGV[3], '-1') > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('SET', KEYS[3], 0, 'PX', ARGV[4])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[3], 1, 'PX', ARGV[4])
)lua";

// 32 hex digits, as Redisson's.
std::string newReleaseId() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string id(32, '0');
  for (std::size_t i = 0; i < id.size(); i += 16) {
    std::uint64_t bits = random();
    for (std::size_t j = i; j < i + 16; ++j, bits >>= 4) id[j] = kDigits[bits & 15];
  }
  return id;
}

}  // namespace

RedissonLock::RedissonLock(const Backends& backends, const Script& unlock)
    : LockDriver(backends.clock),
      redis_(backends.redis),
      channels_(backends.channels),
      unlock_(unlock),
      watchdog_(backends.config.watchdog),
      latchLife_(backends.config.redisTimeout * (RedissonLock::releaseAttempts() + 1)) {}

std::string RedissonLock::unlockScript(std::string_view announce) {
  return std::string(kUnlockHead).append(announce).append("\nreturn 1");
}

std::vector<std::string> RedissonLock::moreKeys(const std::string& name) const {
  (void)name;
  return {};
}

std::string RedissonLock::derived(std::string_view prefix, const std::string& name) {
  const bool braced = name.find('{') != std::string::npos;
  return std::string(prefix) + (braced ? ":" + name : ":{" + name + "}");
}

std::string RedissonLock::channelOf(const std::string& name) {
  return derived("redisson_lock__channel", name);
}

Millis RedissonLock::lease(const LockRequest& request) const {
  return request.ttlGiven ? request.ttl : watchdog_;
}

Millis RedissonLock::renewEvery(const LockRequest& request) const {
  return request.ttlGiven ? Millis{0} : watchdog_ / 3;
}

Grant RedissonLock::grant(const LockRequest& request) const {
  return {request.owner, 0, lease(request), newReleaseId()};
}

Millis RedissonLock::waitAtMost(const LockRequest& request, Millis atMost) {
  // One more: Redis rounds what is left of a life down.
  const Millis ends = request.endsWithin ? *request.endsWithin + Millis{1} : kLookAgain;
  return std::min({atMost, ends, kLookAgain});
}

Task<bool> RedissonLock::renew(const LockRequest& request, const Grant& grant) {
  const std::string life = std::to_string(lease(request).count());
  const Reply reply = co_await redis_.run(kRenew, {request.name}, {life, grant.owner});
  co_return reply.integer == 1;
}

Task<bool> RedissonLock::release(const LockRequest& request, const Grant& grant) {
  return unlock(request, grant, "0");
}

Task<bool> RedissonLock::unlock(const LockRequest& request, const Grant& grant,
                                std::string message) {
  // No id: the attempt had no reply, and nobody will repeat this.
  const std::string id = grant.releaseId.empty() ? newReleaseId() : grant.releaseId;
  const std::string channel = channelOf(request.name);
  const std::string latch = derived("redisson_unlock_latch", request.name) + ':' + id;
  const std::string settled = swapSettled({});
  const std::string life = std::to_string(lease(request).count());
  const std::string latchLife = std::to_string(latchLife_.count());
  const std::vector<std::string> more = moreKeys(request.name);

  Args keys{request.name, channel, latch, settled.empty() ? latch : settled};
  for (const std::string& key : more) keys.add(key);
  const Args args{message, life, grant.owner, latchLife};
  const Reply reply = co_await redis_.run(unlock_, keys, args);
  swapSettled(latch);
  co_return !reply.isNil();
}

// Redisson deletes a latch with a command of its own; ours rides along with the next unlock.
std::string RedissonLock::swapSettled(std::string latch) {
  const std::lock_guard guard(mutex_);
  return std::exchange(settled_, std::move(latch));
}

}  // namespace turnstile
