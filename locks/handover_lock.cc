#include "locks/handover_lock.h"

namespace turnstile {
namespace {

// KEYS: the lock, its fence, its queue. ARGV: the owner, the time to live in ms. Reply: the fence; 0: refused. A
// free lock with a queue is one whose heir died: then the first to ask has it.
const Script kFetchOrQueue(R"lua(
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return tonumber(redis.call('GET', KEYS[2]))
end
if not holder then
  redis.call('LREM', KEYS[3], '1', ARGV[1])
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return redis.call('INCR', KEYS[2])
end
if not redis.call('LPOS', KEYS[3], ARGV[1]) then redis.call('RPUSH', KEYS[3], ARGV[1]) end
redis.call('PEXPIRE', KEYS[3], '60000')
return 0)lua");

// KEYS: as above. ARGV: the owner who believes it is theirs, the channels' prefix, ms to fetch it. Who has no lock
// to give back leaves the queue.
const Script kHandOver(R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  redis.call('LREM', KEYS[3], '1', ARGV[1])
  return 0
end
local heir = redis.call('LPOP', KEYS[3])
if not heir then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], heir, 'PX', ARGV[3])
redis.call('INCR', KEYS[2])
redis.call('PUBLISH', ARGV[2] .. string.match(heir, '^[^:]*'), heir)
return 1)lua");

struct HandoverKeys {
  explicit HandoverKeys(const std::string& name)
      : fence(name + ":fence"), queue(name + ":queue"), channels(name + ":heir:") {}
  std::string fence, queue, channels;
};

// One a process and lock; the message says whom it is for.
std::string channelOf(const LockRequest& request) {
  return HandoverKeys(request.name).channels + request.owner.substr(0, request.owner.find(':'));
}

}  // namespace

Task<std::optional<Grant>> HandoverLock::tryAcquire(const LockRequest& request) {
  const HandoverKeys keys(request.name);
  const std::string ttl = std::to_string(request.ttl.count());
  if (request.refusals == 0)
    channels_.listen(channelOf(request), request.owner, request.turn->wakeup());
  const Reply reply = co_await redis_.run(kFetchOrQueue, {request.name, keys.fence, keys.queue},
                                          {request.owner, ttl});
  if (reply.integer == 0) co_return std::nullopt;
  channels_.leave(channelOf(request), request.owner, request.turn->wakeup());
  co_return Grant{request.owner, static_cast<std::uint64_t>(reply.integer), request.ttl};
}

Task<> HandoverLock::awaitRelease(const LockRequest& request, Millis atMost) {
  const std::string channel = channelOf(request);
  if (!co_await channels_.ready(channel, request.owner, request.turn->wakeup())) co_return;
  co_await request.turn->wakeup()->wait(std::min(atMost, kLookAgain));
}

Task<bool> HandoverLock::release(const LockRequest& request, const Grant& grant) {
  const HandoverKeys keys(request.name);
  const std::string handover = std::to_string(kHandover.count());
  const Reply reply = co_await redis_.run(kHandOver, {request.name, keys.fence, keys.queue},
                                          {grant.owner, keys.channels, handover});
  co_return reply.integer == 1;
}

Task<> HandoverLock::abandon(const LockRequest& request) {
  channels_.leave(channelOf(request), request.owner, request.turn->wakeup());
  const Grant maybe{request.owner};  // it may have been handed to us just now: then it goes on to the next
  try {
    co_await release(request, maybe);
  } catch (const std::exception&) {
    // Left in the queue: whoever hands it to us waits kHandover.
  }
}

Task<> HandoverLock::reset(std::string name) {
  const HandoverKeys keys(name);
  co_await redis_.command({"DEL", name, keys.queue});
}

}  // namespace turnstile
