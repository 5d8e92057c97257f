// `turnstile-harness cache --check-consistency`: stale reads by policy, with the race between a
// reader's look at the database and its fill widened. The policy that is broken on purpose runs
// too: a checker that finds nothing there can tell nothing (exit 2).
#include <json/json.h>
#include <unistd.h>

#include <cstdio>

#include "cache/product_policy.h"
#include "loadtest/cache.h"
#include "loadtest/consistency.h"
#include "loadtest/environment.h"
#include "loadtest/format.h"
#include "loadtest/interrupt.h"
#include "loadtest/output_dir.h"
#include "loadtest/report_command.h"
#include "loadtest/results.h"
#include "loadtest/stack.h"
#include "loadtest/table.h"

namespace turnstile::harness {
namespace {

constexpr const char* kPromisesNone = "rw-lock";

Table tableOf(const std::vector<ConsistencyFigures>& all) {
  Table table{{{"policy", true},
               {"reads"},
               {"writes"},
               {"stale reads"},
               {"versions behind"},
               {"busy"},
               {"errors"}},
              {}};
  for (const auto& one : all)
    table.rows.push_back(
        {one.policy, thousands(static_cast<double>(one.reads)),
         thousands(static_cast<double>(one.writes)), thousands(static_cast<double>(one.staleReads)),
         thousands(static_cast<double>(one.mostVersionsBehind)),
         thousands(static_cast<double>(one.busy)), thousands(static_cast<double>(one.errors))});
  return table;
}

int exitCodeOf(const std::vector<ConsistencyFigures>& all) {
  int code = interrupted() ? 2 : 0;
  for (const auto& one : all) {
    const bool broken = findProductPolicy(one.policy)->brokenOnPurpose;
    if (broken && one.staleReads == 0) code = std::max(code, 2);
    if (one.errors > 0)
      std::printf("  %s: first error: %s\n", one.policy.c_str(), one.firstError.c_str());
    if (one.policy == kPromisesNone && (one.staleReads > 0 || one.errors > 0)) return 1;
  }
  return code;
}

}  // namespace

int consistencyRun(const CacheOptions& options, const std::vector<std::string>& command) {
  const auto root = checkoutRoot();
  Stack stack(root, options.basePort, options.keepUp);
  stack.ensure(options.instances > 0 ? std::optional<int>(options.instances) : std::nullopt);
  const OutputDir out(root, options.out);
  Json::Value json;
  json["version"] = 1;
  json["started_at"] = utcNow();
  for (const std::string& word : command) json["command"].append(word);
  json["environment"] = environmentStamp(root, stack.runDir(), stack.description());
  std::vector<ConsistencyFigures> all;
  for (const ProductPolicySpec& spec : productPolicies()) {
    if (interrupted()) break;
    std::fprintf(stderr, "%s\n", spec.name.c_str());
    ConsistencyOrder order{options.basePort, stack.instances(), stack.service().token(), spec.name};
    order.operations = options.operations;
    order.pausedShare =
        spec.brokenOnPurpose ? 1 : 0.1;  // 1: each read shows the admin token it needs
    if (spec.brokenOnPurpose) order.pauseMs = 0;
    all.push_back(checkConsistency(order));
    json["consistency"].append(toJson(all.back()));
    out.write("cache.json", toText(json));
  }
  std::printf("\n%s\n", asText(tableOf(all), false).c_str());
  const int code = exitCodeOf(all);
  std::printf(
      code == 0
          ? "rw-lock has no stale read; the checker found those of the policy broken on purpose.\n"
      : code == 1 ? "rw-lock broke its promise.\n"
                  : "Could not tell: the checker found nothing where there must be something.\n");
  drawReport(out.path());
  std::printf("Report: %s\n", (out.path() / "report.html").c_str());
  std::fflush(stdout);
  return code;
}

}  // namespace turnstile::harness
