#include "locks/redis_key_lock.h"

namespace turnstile {
namespace {

constexpr std::string_view kNobody = "held";  // the articles write a constant too

// KEYS[1]: the lock. ARGV[1]: the owner who believes it is theirs.
const Script kReleaseIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0)lua");

// KEYS[1]: the lock. ARGV: the owner who believes it is theirs, its new life in ms.
const Script kRenewIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0)lua");

}  // namespace

Task<bool> RedisKeyLock::setNxPx(const LockRequest& request, std::string_view value) {
  const std::string ttl = std::to_string(request.ttl.count());
  const Reply reply = co_await redis_.command({"SET", request.name, value, "NX", "PX", ttl});
  co_return reply.isOk();
}

Task<std::optional<Grant>> RedisKeyLock::tryAcquire(const LockRequest& request) {
  if (!co_await setNxPx(request, request.owner)) co_return std::nullopt;
  co_return Grant{request.owner, 0, request.ttl};
}

Task<bool> RedisKeyLock::renew(const LockRequest& request, const Grant& grant) {
  const std::string ttl = std::to_string(request.ttl.count());
  const Reply reply = co_await redis_.run(kRenewIfMine, {request.name}, {grant.owner, ttl});
  co_return reply.integer == 1;
}

Task<bool> RedisKeyLock::release(const LockRequest& request, const Grant& grant) {
  const Reply reply = co_await redis_.run(kReleaseIfMine, {request.name}, {grant.owner});
  co_return reply.integer == 1;
}

Task<> RedisKeyLock::reset(std::string name) { co_await redis_.command({"DEL", name}); }

Task<std::optional<Grant>> NamelessKeyLock::tryAcquire(const LockRequest& request) {
  if (!co_await setNxPx(request, kNobody)) co_return std::nullopt;
  co_return Grant{request.owner, 0, request.ttl};
}

Task<bool> NamelessKeyLock::release(const LockRequest& request, const Grant&) {
  const Reply reply = co_await redis_.command({"DEL", request.name});
  co_return reply.integer == 1;
}

Task<std::optional<Grant>> SetnxLock::tryAcquire(const LockRequest& request) {
  const Reply reply = co_await redis_.command({"SETNX", request.name, kNobody});
  if (reply.integer != 1) co_return std::nullopt;
  co_return Grant{request.owner, 0, Millis{0}};
}

}  // namespace turnstile
