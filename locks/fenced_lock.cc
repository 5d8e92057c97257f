#include "locks/fenced_lock.h"

namespace turnstile {
namespace {

// KEYS: the lock, its fence. ARGV: the owner, the time to live in ms. Reply: the fence; 0: refused.
const Script kSetWithFence(R"lua(
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2]))lua");

// KEYS[1]: the lock. ARGV[1]: the owner who believes it is theirs.
const Script kDeleteIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0)lua");

}  // namespace

Task<std::optional<Grant>> FencedLock::tryAcquire(const LockRequest& request) {
  const std::string ttl = std::to_string(request.ttl.count());
  const std::string fence = request.name + ":fence";
  const Reply reply = co_await redis_.run(kSetWithFence, {request.name, fence}, {request.owner, ttl});
  if (reply.integer == 0) co_return std::nullopt;
  co_return Grant{request.owner, static_cast<std::uint64_t>(reply.integer), request.ttl};
}

Task<bool> FencedLock::release(const LockRequest& request, const Grant& grant) {
  const Reply reply = co_await redis_.run(kDeleteIfMine, {request.name}, {grant.owner});
  co_return reply.integer == 1;
}

Task<> FencedLock::reset(std::string name) { co_await redis_.command({"DEL", name}); }

}  // namespace turnstile
