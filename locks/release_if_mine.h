// Compare and delete in one step: the way to give back a lock that is a key with its owner as value.
#pragma once

#include "app/redis.h"

namespace turnstile {

// KEYS[1]: the lock. ARGV[1]: the owner who believes it is theirs. Reply: 1 deleted, 0 it was not theirs.
inline const Script kReleaseIfMine(R"lua(
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0)lua");

}  // namespace turnstile
