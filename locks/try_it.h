// Lines for StrategySpec::tryIt: a strategy's lesson as a reader types it, against the local stack
// on its default ports (`./turnstile up`), for the event `demo`. They go into docs/strategies.md as
// they are.
#pragma once

#include <string>

namespace turnstile::tryit {

/// Creates or resets the event.
std::string reset(int seats);
/// One sale on one instance; instance 0 goes through nginx.
std::string sale(int instance, const std::string& query);
/// The same, while the shell goes on.
std::string background(int instance, const std::string& query);
/// The ledger's verdict.
std::string audit();
/// redis-cli on the main server.
std::string redis(const std::string& command);

}  // namespace turnstile::tryit
