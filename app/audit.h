// The audit: what the ledgers and the stocks say of an event, and the verdict that follows. It never asks
// a strategy.
//
// An event has one set of seats. Each store holds a copy of it, so selling one event through two stores sells
// seats twice, and the audit says so; ask for one store (`?stock=mysql`) to see it alone.
#pragma once

#include <string>
#include <vector>

#include "app/stock.h"
#include "locks/registry.h"

namespace turnstile {

struct StoreAudit {
  std::string store;
  std::int64_t remaining = 0;
  std::int64_t sold = 0;
};

struct Audit {
  std::string event;
  std::int64_t stock = 0;
  std::int64_t remaining = 0;
  std::int64_t sold = 0;
  std::int64_t distinctSeats = 0;
  std::int64_t doubleSold = 0;
  std::int64_t oversold = 0;
  std::int64_t lost = 0;
  std::int64_t unavailable = 0;  // of those remaining: on servers that are away. The verdict is about the rest
  Verdict verdict = Verdict::unknown;
  std::vector<StoreAudit> stores;
  std::vector<int> doubleSeats;          // each seat sold more than once, ascending
  std::vector<std::string> away;         // those servers
  std::vector<std::string> unreachable;  // stores that could not be asked: then the verdict is unknown
};

/// Pure arithmetic over what the stores said, so that a test needs no server.
Audit judge(std::string event, const std::vector<std::pair<std::string, Tally>>& tallies,
            std::vector<std::string> unreachable = {});

/// Asks the stores. Throws UnknownEvent when none knows it, BackendDown when none could be asked.
Task<Audit> audit(std::string event, std::vector<Store*> stores);

}  // namespace turnstile
