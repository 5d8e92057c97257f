#include "loadtest/verdict.h"

#include <algorithm>
#include <set>

namespace turnstile::harness {
namespace {

std::string count(long n, const char* what) { return std::to_string(n) + " " + what; }

// Ledger against stock. Computed here from the figures: the service's own word is only compared
// with it.
Judgement ledgerAgainstStock(const Audit& a) {
  if (a.doubleSold > 0)
    return {Verdict::oversold,
            count(a.doubleSold, a.doubleSold == 1 ? "sale" : "sales") + " of a seat that was already sold", 0};
  if (a.oversold() > 0)
    return {Verdict::oversold, count(a.oversold(), "more sold than there were seats"), 0};
  if (a.remaining < 0)
    return {Verdict::oversold, "the stock went down to " + std::to_string(a.remaining), 0};
  if (a.sold > a.stock - a.remaining) {
    return {Verdict::oversold,
            count(a.sold - (a.stock - a.remaining), "sales were never taken off the stock"), 0};
  }
  if (a.lost() > 0)
    return {Verdict::lost, count(a.lost(), "seats left the stock without a sale"), 0};
  return {Verdict::safe, "", 0};
}

// A request that was not answered, or answered "not known", may have sold: the ledger may be ahead
// by that many, never behind.
long mayHaveSold(const ClientCount& c) { return c.inFlight() + c.unknown + c.error; }

Judgement clientAgainstLedger(const Audit& a, const ClientCount& c) {
  const long allowed = mayHaveSold(c);
  if (c.sold > a.sold) {
    return {Verdict::disagree,
            "buyers heard " + count(c.sold, "sales, the ledger has only ") + std::to_string(a.sold),
            allowed};
  }
  if (a.sold > c.sold + allowed) {
    return {Verdict::disagree,
            "the ledger has " + count(a.sold, "sales, buyers heard ") + std::to_string(c.sold) +
                " and only " + count(allowed, "more could be under way"),
            allowed};
  }
  return {Verdict::safe, "", allowed};
}

std::string firstErrorOf(const ClientCount& c) {
  return c.firstError.empty() ? "" : "; the first: " + c.firstError;
}

bool disturbed(const ClientCount& c) {
  const long failures = c.error + c.unknown;
  return static_cast<double>(failures) > kDisturbed * static_cast<double>(c.requests) ||
         (c.connections > 0 && failures >= c.connections);
}

}  // namespace

Judgement judgeUnderFault(const Audit& audit, const ClientCount& client) {
  Judgement result = ledgerAgainstStock(audit);
  const Judgement heard = clientAgainstLedger(audit, client);
  result.inFlightAllowed = heard.inFlightAllowed;
  if (heard.verdict != Verdict::safe) {
    result.verdict = heard.verdict;
    result.reason = heard.reason + (result.reason.empty() ? "" : "; also " + result.reason);
  } else if (audit.verdict != nameOf(result.verdict)) {
    result.reason =
        "the service says " + audit.verdict + ", its own figures say " + nameOf(result.verdict);
    result.verdict = Verdict::disagree;
  }
  return result;
}

Judgement judge(const Audit& audit, const ClientCount& client) {
  Judgement result = ledgerAgainstStock(audit);
  result.inFlightAllowed = mayHaveSold(client);
  const std::string failures = count(client.error + client.unknown, "of ") +
                               count(client.requests, "answers were failures") +
                               firstErrorOf(client);

  if (client.requests == 0) {
    result.verdict = Verdict::unknown;
    result.reason = "no request was answered" + firstErrorOf(client);
  } else if (result.verdict != Verdict::oversold && disturbed(client)) {
    result.verdict = Verdict::unknown;
    result.reason = failures;
  } else if (result.verdict != Verdict::oversold && audit.sold == 0) {
    result.verdict = client.busy > 0 ? Verdict::stuck : Verdict::unknown;
    result.reason =
        client.busy > 0
            ? "nobody got the lock: " + count(client.busy, "buyers were told busy, none was served")
            : "nothing was sold" + firstErrorOf(client);
  } else if (const Judgement found = judgeUnderFault(audit, client); found.verdict != result.verdict) {
    result = found;
  } else if (result.verdict == Verdict::safe && client.error + client.unknown > 0) {
    result.reason = failures;
  }
  return result;
}

Judgement judgeSellOut(const Audit& audit, const ClientCount& client, bool stalled) {
  Judgement result = judge(audit, client);
  if (result.verdict != Verdict::safe) return result;
  const std::set<long> distinct(client.seats.begin(), client.seats.end());
  if (audit.remaining != 0 || audit.sold != audit.stock) {
    result.verdict = stalled ? Verdict::stuck : Verdict::unknown;
    result.reason = (stalled ? "the sale stopped with " : "not sold out in time: ") +
                    count(audit.remaining, "seats left");
  } else if (distinct.size() != client.seats.size()) {
    result.verdict = Verdict::disagree;
    result.reason = "the ledger shows every seat once, but buyers hold " +
                    count(static_cast<long>(client.seats.size() - distinct.size()), "seats twice");
  } else if (!distinct.empty() && (*distinct.begin() < 1 || *distinct.rbegin() > audit.stock)) {
    result.verdict = Verdict::disagree;
    result.reason = "a buyer holds a seat outside 1.." + std::to_string(audit.stock);
  }
  return result;
}

Verdict worst(Verdict a, Verdict b) {
  const auto rank = [](Verdict v) {
    switch (v) {
      case Verdict::disagree:
        return 5;
      case Verdict::oversold:
        return 4;
      case Verdict::lost:
        return 3;
      case Verdict::stuck:
        return 2;
      case Verdict::unknown:
        return 1;
      case Verdict::safe:
        return 0;
    }
    return 1;
  };
  return rank(a) >= rank(b) ? a : b;
}

}  // namespace turnstile::harness
