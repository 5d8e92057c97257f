// Check and decrement in one script: all of redis-lua, and of a segment of segmented-lua.
#pragma once

#include "app/redis_stock.h"

namespace turnstile {

// Reply: the seat sold, or 0 when there is none.
inline const StockScript kSellOne("if remaining <= 0 then return 0 end", StockScript::kTake,
                                  "return remaining");

}  // namespace turnstile
