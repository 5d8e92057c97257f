// One measured run: reset the event, let wrk buy, wait until the last sale has ended, audit, judge.
// Never throws for what a backend does: a run that could not be made is `unknown` with the reason,
// and the comparison goes on.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "loadtest/compare_options.h"
#include "loadtest/run.h"
#include "loadtest/service.h"

namespace turnstile::harness {

class Measurer {
 public:
  // `live` hears the sales/s of the last moment, about four times a second.
  Measurer(const Service& service, const CompareOptions& options, std::filesystem::path script,
           std::function<void(double)> live);

  void warmUp(const std::string& strategy, const Point& point) const;

  // Fills in what `run` (point, round, strategy) shows. `promised` only decides how hard to look: a
  // surprise is audited twice.
  void measure(Run& run, const std::string& promised) const;

 private:
  ClientCount buy(Run& run, std::chrono::milliseconds duration) const;
  bool saleIsOver(Run& run, std::chrono::milliseconds elapsed) const;
  void judgeByAudit(Run& run, const std::string& promised) const;

  const Service& service_;
  const CompareOptions& options_;
  std::filesystem::path script_;
  std::function<void(double)> live_;
};

}  // namespace turnstile::harness
