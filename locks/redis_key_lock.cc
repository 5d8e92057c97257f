#include "locks/redis_key_lock.h"

#include "locks/release_if_mine.h"

namespace turnstile {
namespace {

// KEYS[1]: the lock. ARGV: the owner who believes it is theirs, its new life in ms.
const Script kRenewIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0)lua");

}  // namespace

Task<std::optional<Grant>> RedisKeyLock::tryAcquire(const LockRequest& request) {
  const std::string ttl = std::to_string(request.ttl.count());
  const Reply reply =
      co_await redis_.command({"SET", request.name, mark(request), "NX", "PX", ttl});
  if (!reply.isOk()) co_return std::nullopt;
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

Task<bool> NamelessKeyLock::release(const LockRequest& request, const Grant&) {
  const Reply reply = co_await redis_.command({"DEL", request.name});
  co_return reply.integer == 1;
}

Task<std::optional<Grant>> SetnxLock::tryAcquire(const LockRequest& request) {
  const Reply reply = co_await redis_.command({"SETNX", request.name, mark(request)});
  if (reply.integer != 1) co_return std::nullopt;
  co_return Grant{request.owner, 0, Millis{0}};
}

}  // namespace turnstile
