#include "loadtest/scene.h"

#include <algorithm>
#include <thread>

#include "loadtest/verdict.h"

namespace turnstile::harness {
namespace {

using std::chrono::milliseconds;

// Longer than any lock's life here (the settings of `faults`) and any session: who is still told
// busy then is so for ever.
constexpr milliseconds kPatience{12'000};
constexpr milliseconds kRecovery{20'000};     // clients reconnect within seconds
constexpr milliseconds kUntilGranted{1'500};  // strategies without a lock count none
constexpr milliseconds kUntilThere{500};      // from the grant to a point of the lab: a read

}  // namespace

Scene::Scene(const Bench& bench, const Service& service, const Described& strategy, int seats)
    : bench_(bench), service_(service), strategy_(strategy), event_("fault-" + strategy.name) {
  service_.resetEvent(event_, seats);
}

bool Scene::passes(const std::string& point) const {
  return std::find(strategy_.points.begin(), strategy_.points.end(), point) !=
         strategy_.points.end();
}

std::string Scene::firstOf(const std::vector<std::string>& points) const {
  const auto found =
      std::find_if(points.begin(), points.end(), [&](const auto& point) { return passes(point); });
  return found == points.end() ? std::string() : *found;
}

void Scene::count(const Answer& answer) {
  const std::lock_guard guard(mutex_);
  ++heard_.issued;
  if (answer.status == 0) return;  // under way for ever: it may have bought
  ++heard_.requests;
  const std::string outcome = answer.outcome();
  ++(outcome == "sold"       ? heard_.sold
     : outcome == "sold_out" ? heard_.soldOut
     : outcome == "busy"     ? heard_.busy
     : outcome == "unknown"  ? heard_.unknown
                             : heard_.error);
}

Answer Scene::buy(const std::string& more, int instance, int user) {
  Answer answer;
  try {
    answer = bench_.sell(
        "event=" + event_ + "&strategy=" + strategy_.name + "&user=u" + std::to_string(user) + more,
        instance);
  } catch (const std::exception& broken) {
    answer.body = broken.what();
  }
  count(answer);
  return answer;
}

std::future<Answer> Scene::buyLater(const std::string& more, int instance) {
  return std::async(std::launch::async, [this, more, instance] { return buy(more, instance); });
}

std::future<Answer> Scene::holder(const std::string& more, int instance) {
  const long before = granted();
  auto answer = buyLater(more, instance);
  eventually([&] { return granted() > before; }, kUntilGranted);
  std::this_thread::sleep_for(kUntilThere);
  return answer;
}

void Scene::crowd(const std::vector<int>& instances, int buyers, int each,
                  const std::string& more) {
  std::vector<std::future<void>> all;
  for (int i = 0; i < buyers; ++i) {
    const int instance = instances[static_cast<std::size_t>(i) % instances.size()];
    all.push_back(std::async(std::launch::async, [this, each, more, instance, i] {
      for (int n = 0; n < each; ++n)
        if (buy(more, instance, i).outcome() == "sold_out") return;
    }));
  }
  for (auto& one : all) one.get();
}

long Scene::granted() const {
  return static_cast<long>(bench_.metric("turnstile_lock_granted_total", strategy_.name));
}

long Scene::sold() const { return service_.audit(event_).sold; }

Judgement Scene::conclude() {
  Answer next;
  const bool answered = eventually(
      [&] {
        next = buy("&wait=" + std::to_string(kPatience.count()), 1);
        return next.json.isMember("outcome") && next.outcome() != "unknown";
      },
      kRecovery);
  if (!answered)
    return {Verdict::unknown, "the next buyer was told nothing but " + std::to_string(next.status) +
                                  ": " + next.body};
  // Busy once is not stuck: where a loser deletes the lock, the one after it is let in.
  const bool stuck = next.outcome() == "busy" && buy("", 2).outcome() == "busy";
  Judgement found = judgeUnderFault(service_.settledAudit(event_), heard_);
  if (found.verdict == Verdict::safe && stuck)
    return {Verdict::stuck, "a buyer who waited " + std::to_string(kPatience.count() / 1000) +
                                " s was told busy, and so was the next"};
  return found;
}

}  // namespace turnstile::harness
