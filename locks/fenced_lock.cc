#include "locks/fenced_lock.h"

#include <random>

namespace turnstile {
namespace {

// KEYS: the lock, its fence, the reservation. ARGV: the owner, the time to live in ms, the same for
// a reservation. Reply: the fence; 0: refused. A reservation lives for some polls of whoever made
// it.
const Script kAcquire(R"lua(
local next = redis.call('GET', KEYS[3])
if (not next or next == ARGV[1]) and redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  if next then redis.call('DEL', KEYS[3]) end
  return redis.call('INCR', KEYS[2])
end
if not next or next == ARGV[1] then redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[3]) end
return 0)lua");

// KEYS[1]: the lock, or the reservation. ARGV[1]: the owner who believes it is theirs.
const Script kDeleteIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0)lua");

constexpr std::string_view kReservedMillis = "20";
constexpr int kShortestPoll = 200;  // µs
constexpr int kLongestPoll = 400;

std::string reservationOf(const std::string& name) { return name + ":next"; }
std::string fenceOf(const std::string& name) { return name + ":fence"; }

}  // namespace

Task<std::optional<Grant>> FencedLock::tryAcquire(const LockRequest& request) {
  const std::string ttl = std::to_string(request.ttl.count());
  const std::string fence = fenceOf(request.name);
  const std::string reservation = reservationOf(request.name);
  const Reply reply = co_await redis_.run(kAcquire, {request.name, fence, reservation},
                                          {request.owner, ttl, kReservedMillis});
  if (reply.integer == 0) co_return std::nullopt;
  co_return Grant{request.owner, static_cast<std::uint64_t>(reply.integer), request.ttl};
}

Task<> FencedLock::awaitRelease(const LockRequest& request, Millis atMost) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const Micros pause{std::uniform_int_distribution<>(kShortestPoll, kLongestPoll)(random)};
  co_await request.turn->wakeup()->wait(std::min<Micros>(atMost, pause));
}

Task<bool> FencedLock::release(const LockRequest& request, const Grant& grant) {
  const Reply reply = co_await redis_.run(kDeleteIfMine, {request.name}, {grant.owner});
  co_return reply.integer == 1;
}

Task<> FencedLock::abandon(const LockRequest& request) {
  const std::string reservation = reservationOf(request.name);
  try {
    co_await redis_.run(kDeleteIfMine, {reservation}, {request.owner});
  } catch (const std::exception&) {
    // it lapses
  }
}

Task<> FencedLock::reset(std::string name) {
  const std::string reservation = reservationOf(name);
  co_await redis_.command({"DEL", name, reservation});
}

}  // namespace turnstile
