// The stack under test, as a test talks to it: HTTP through nginx or to one instance, Redis by hand, and
// single services killed, frozen and started again. `./turnstile test` brings it up; a test that finds
// none fails, it does not skip.
#pragma once

#include <json/json.h>  // the tests also print what they got

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "loadtest/bench.h"

namespace turnstile::test {

using std::chrono::milliseconds;

using harness::Answer;
using harness::eventually;
using harness::kNginx;

/// The stack itself; what follows speaks of it in a test's words.
const harness::Bench& bench();

/// An event no other test uses, named after the running test; created with `seats`.
std::string freshEvent(int seats);

/// Any request. `instance` 0 goes through nginx, 1.. straight to that instance.
Answer request(const std::string& method, const std::string& target, const std::string& body = {},
               bool asAdmin = false, int instance = kNginx, milliseconds deadline = milliseconds{20'000});

/// POST /lock with the admin token, so lab parameters work: sell("event=x&strategy=y&hold=100", 2).
Answer sell(const std::string& query, int instance = kNginx);
/// The same in a thread of its own. Keep the future: its destructor waits.
std::future<Answer> sellLater(const std::string& query, int instance = kNginx);

/// `buyers` concurrent buyers spread over all instances, each buying until told sold out or `each` times.
/// Gives the answers by outcome ("sold", "sold_out", "busy", "unknown", "error").
Json::Value buyConcurrently(const std::string& query, int buyers, int each);

/// What the ledgers say. The instance that is asked may be the last to find a server that is back: as long
/// as its verdict is unknown it is asked again, until eventually() gives up.
Json::Value audit(const std::string& event);
void resetEvent(const std::string& event, int seats);

/// "redis-main", "redis-node-3". Text of the reply; nullopt for nil. Throws on an error reply.
std::optional<std::string> redis(const std::string& service, const std::vector<std::string>& words);

/// Single services of the stack, by name: "app-2", "redis-main", "mariadb", "zookeeper", "etcd".
void signalService(const std::string& service, int signal);
void killService(const std::string& service);     // SIGKILL, and waits until it is gone
void startService(const std::string& service);    // as `up` would; waits until it answers
bool serviceRuns(const std::string& service);
int portOf(const std::string& service);
std::string runDir();

/// Sum over all instances of one Prometheus series, for instance "turnstile_lock_lost_total" of a strategy.
double metric(const std::string& name, const std::string& strategy);

}  // namespace turnstile::test
