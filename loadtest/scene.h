// One cell of the fault matrix while it is played: a strategy, an event of its own, buyers whose
// every answer is counted, and at the end the verdict. The verdict is the ledger's; the buyers are
// heard as witnesses, and one more of them shows whether the sale goes on.
#pragma once

#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "loadtest/bench.h"
#include "loadtest/catalogue.h"
#include "loadtest/run.h"
#include "loadtest/service.h"

namespace turnstile::harness {

class Scene {
 public:
  /// Creates the event.
  Scene(const Bench& bench, const Service& service, const Described& strategy, int seats);

  const Bench& bench() const { return bench_; }
  const Described& strategy() const { return strategy_; }
  bool passes(const std::string& point) const;
  /// The first of these points that the strategy passes; empty: none.
  std::string firstOf(const std::vector<std::string>& points) const;

  /// One sale, with lab parameters ("&hold=100"). By the same user unless told, so that a segment
  /// is met again. A connection that breaks is an answer too, with status 0.
  Answer buy(const std::string& more, int instance, int user = 1);
  std::future<Answer> buyLater(const std::string& more, int instance);
  /// The same, and returns once that sale has its lock and had time to come to where `more` makes
  /// it stand.
  std::future<Answer> holder(const std::string& more, int instance);
  /// Each of `buyers` buys `each` times, or until sold out; spread over these instances.
  void crowd(const std::vector<int>& instances, int buyers, int each, const std::string& more = {});

  long granted() const;  // locks of this strategy so far, over all instances
  long sold() const;     // by the ledger

  /// Whether the sale goes on, and what the ledger says.
  Judgement conclude();

 private:
  void count(const Answer& answer);

  const Bench& bench_;
  const Service& service_;
  const Described& strategy_;
  std::string event_;
  std::mutex mutex_;
  ClientCount heard_;
};

}  // namespace turnstile::harness
