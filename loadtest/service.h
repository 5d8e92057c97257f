// The service as the harness sees it: reset an event, audit it, read every instance's metrics. All
// calls block, with deadlines, and throw std::runtime_error with the service's own words when it
// refuses.
#pragma once

#include <string>
#include <vector>

#include "loadtest/prometheus.h"
#include "loadtest/run.h"

namespace turnstile::harness {

class Service {
 public:
  Service(int basePort, std::string adminToken)
      : basePort_(basePort), token_(std::move(adminToken)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(basePort_); }
  const std::string& token() const { return token_; }  // the admin's
  void resetEvent(const std::string& event, long stock) const;
  Audit audit(const std::string& event, bool withSeats = false) const;

  // Audits until nothing moves any more: sales that were in flight when wrk stopped still end, and
  // an audit between a deduction and its ledger entry would see a loss that is none. Gives the last
  // one at the deadline.
  Audit settledAudit(const std::string& event) const;

  // One reading an instance, asked directly; an instance that does not answer gives an empty one.
  std::vector<Metrics> metrics(int instances) const;

 private:
  int basePort_;
  std::string token_;
};

Audit parseAudit(const std::string& json);  // throws std::runtime_error

}  // namespace turnstile::harness
