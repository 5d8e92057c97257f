#include "loadtest/measure.h"

#include <chrono>
#include <thread>

#include "loadtest/interrupt.h"
#include "loadtest/output_dir.h"
#include "loadtest/plan.h"
#include "loadtest/verdict.h"
#include "loadtest/wrk.h"

namespace turnstile::harness {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kResetPatience{
    6000};  // the service's clients need about 2 s to find a restarted backend again
constexpr milliseconds kSecondLook{1500};  // before a surprising audit is believed
constexpr milliseconds kSellOutTick{20};   // a small stock is gone in tenths of a second
constexpr milliseconds kBetweenAudits{1000};  // while seats are left: an audit reads the whole ledger
constexpr milliseconds kStalled{10'000};
constexpr milliseconds kAfterLastSeat{
    300};  // buyers go on knocking on the closed door, to see whether it holds

void resetPatiently(const Service& service, const std::string& event, long stock) {
  const auto until = Clock::now() + kResetPatience;
  for (;;) {
    try {
      return service.resetEvent(event, stock);
    } catch (const std::exception&) {
      if (Clock::now() > until || interrupted()) throw;
      std::this_thread::sleep_for(milliseconds{250});
    }
  }
}

std::string eventFor(const std::string& strategy) { return "cmp-" + strategy; }

}  // namespace

Measurer::Measurer(const Service& service, const CompareOptions& options,
                   std::filesystem::path script, std::function<void(double)> live)
    : service_(service), options_(options), script_(std::move(script)), live_(std::move(live)) {}

void Measurer::warmUp(const std::string& strategy, const Point& point) const {
  const milliseconds duration(static_cast<long>(options_.warmup * 1000));
  if (duration.count() == 0) return;
  try {
    Run dropped;
    dropped.strategy = strategy;
    dropped.event = eventFor(strategy);
    dropped.point = point;
    if (strategy != kPing) resetPatiently(service_, dropped.event, options_.seats());
    buy(dropped, duration);
  } catch (const std::exception&) {
    // the measured run meets the same trouble and reports it
  }
}

void Measurer::measure(Run& run, const std::string& promised) const {
  run.startedAt = utcNow();
  const bool ceiling = run.strategy == kPing;
  try {
    if (!ceiling) {
      run.event = eventFor(run.strategy);
      resetPatiently(service_, run.event, options_.seats());
    }
    const auto before = ceiling ? std::vector<Metrics>{} : service_.metrics(run.point.instances);
    // Half as long: there is one before and one after each run. In a sell-out too, where strategies run
    // until they are empty.
    run.client = buy(run, ceiling ? milliseconds(static_cast<long>(options_.duration * 500))
                                  : options_.runTime());
    if (ceiling) {
      run.judgement = {run.client.sold > 0 ? Verdict::safe : Verdict::unknown,
                       run.client.firstError, 0};
      return;
    }
    judgeByAudit(run, promised);
    // after the audit has settled, so that sales still under way when wrk stopped are in these
    // figures too
    run.lock = lockFigures(run.strategy, before, service_.metrics(run.point.instances));
  } catch (const std::exception& e) {
    run.judgement.verdict = Verdict::unknown;
    run.judgement.reason = e.what();
    if (!run.client.firstError.empty())
      run.judgement.reason += "; buyers heard: " + run.client.firstError;
  }
}

ClientCount Measurer::buy(Run& run, milliseconds duration) const {
  WrkOrder order;
  order.script = script_;
  order.url = service_.url();
  order.strategy = run.strategy;
  order.event = run.event;
  order.stockKind = options_.stockKind;
  order.threads = options_.threads;
  order.connections = run.point.connections;
  order.collectSeats = options_.sellOut && run.strategy != kPing;
  order.duration = duration;
  if (order.collectSeats) order.tick = kSellOutTick;

  const bool counted = run.strategy != kPing && live_;
  const auto sold = [&] { return soldIn(service_.metrics(run.point.instances), run.strategy); };
  double soldBefore = counted || order.collectSeats ? sold() : 0;
  const double soldAtTheStart = soldBefore;
  milliseconds before{0};
  return runWrk(order, [&](milliseconds elapsed) {
    if (interrupted()) return true;
    if (counted && elapsed - before >= milliseconds{450}) {
      const double soldNow = sold();
      live_((soldNow - soldBefore) / std::chrono::duration<double>(elapsed - before).count());
      soldBefore = soldNow;
      before = elapsed;
    }
    if (!order.collectSeats) return false;
    // The instances' own count says cheaply that the last seat may be gone; only the ledger says that it is.
    const bool look = run.secondsToEmpty > 0 || elapsed >= run.nextAudit ||
                      sold() - soldAtTheStart >= static_cast<double>(options_.seats());
    return look && saleIsOver(run, elapsed);
  });
}

// Sell-out: true a moment after the last seat went, or when nothing has been sold for so long that
// nothing will be. Notes when the last seat went, to about a tick.
bool Measurer::saleIsOver(Run& run, milliseconds elapsed) const {
  if (run.secondsToEmpty > 0) return elapsed >= run.lastSaleAt + kAfterLastSeat;
  run.nextAudit = elapsed + kBetweenAudits;
  try {
    const Audit audit = service_.audit(run.event);
    if (audit.sold > run.soldSoFar) run.lastSaleAt = elapsed;
    run.soldSoFar = audit.sold;
    if (audit.remaining <= 0 || audit.sold >= audit.stock) {
      run.secondsToEmpty = std::chrono::duration<double>(elapsed).count();
      run.lastSaleAt = elapsed;
    }
  } catch (const std::exception&) {
    return false;  // asked again at the next tick; the run has its deadline
  }
  return run.stalled = elapsed >= run.lastSaleAt + kStalled;
}

void Measurer::judgeByAudit(Run& run, const std::string& promised) const {
  const auto judged = [&](const Audit& audit) {
    return options_.sellOut ? judgeSellOut(audit, run.client, run.stalled)
                            : judge(audit, run.client);
  };
  run.audit = service_.settledAudit(run.event);
  run.judgement = judged(*run.audit);
  if (nameOf(run.judgement.verdict) != promised && !interrupted()) {
    std::this_thread::sleep_for(kSecondLook);
    run.audit = service_.settledAudit(run.event);
    run.judgement = judged(*run.audit);
  }
  if (run.audit->doubleSold > 0)
    run.audit->doubleSeats = service_.audit(run.event, true).doubleSeats;
}

}  // namespace turnstile::harness
