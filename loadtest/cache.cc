#include "loadtest/cache.h"

#include <json/json.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "loadtest/cache_measure.h"
#include "loadtest/compare_options.h"
#include "loadtest/environment.h"
#include "loadtest/interrupt.h"
#include "loadtest/output_dir.h"
#include "loadtest/report_command.h"
#include "loadtest/results.h"
#include "loadtest/stack.h"

namespace turnstile::harness {
namespace {

std::vector<std::string> chosen(const CacheOptions& options) {
  std::vector<std::string> all;
  for (const CachePolicySpec& spec : cachePolicies()) all.push_back(spec.name);
  for (const std::string& asked : options.policies)
    if (std::find(all.begin(), all.end(), asked) == all.end())
      throw std::invalid_argument("unknown policy '" + asked + "'; allowed: " + cachePolicyNames());
  std::erase_if(all, [&](const std::string& name) {
    const auto& asked = options.policies;
    return !asked.empty() && std::find(asked.begin(), asked.end(), name) == asked.end();
  });
  return all;
}

Json::Value describe(const std::vector<CacheFigures>& all, const CacheLoad& load,
                     const std::vector<std::string>& command, const std::string& started,
                     const Json::Value& environment) {
  Json::Value out;
  out["version"] = 1;
  out["started_at"] = started;
  for (const std::string& word : command) out["command"].append(word);
  out["options"]["connections"] = load.connections;
  out["options"]["expiries"] = load.expiries;
  out["options"]["instances"] = load.instances;
  out["environment"] = environment;
  out["policies"] = Json::arrayValue;
  for (const CacheFigures& one : all) out["policies"].append(toJson(one, load.instances));
  return out;
}

int exitCodeOf(const std::vector<CacheFigures>& all, std::size_t planned, int instances) {
  int code = all.size() < planned || interrupted() ? 2 : 0;
  for (const CacheFigures& one : all) {
    const CacheVerdict verdict = judge(one, specOf(one.policy), instances);
    if (verdict.kind == CacheVerdict::Kind::kept) continue;
    std::printf("  %s: %s\n", one.policy.c_str(), verdict.reason.c_str());
    if (verdict.kind == CacheVerdict::Kind::broken)
      code = 1;
    else if (code == 0)
      code = 2;
  }
  return code;
}

}  // namespace

int cacheRun(const CacheOptions& options, const std::vector<std::string>& command) {
  catchInterrupts();
  if (options.checkConsistency) return consistencyRun(options, command);
  const auto policies = chosen(options);
  const auto root = checkoutRoot();
  Stack stack(root, options.basePort, options.keepUp);
  stack.ensure(options.instances > 0 ? std::optional<int>(options.instances) : std::nullopt);
  CacheLoad load{options.basePort, stack.instances(), stack.service().token()};
  load.connections = options.connections;
  load.expiries = options.expiries;
  const OutputDir out(root, options.out);
  const std::string started = utcNow();
  const Json::Value environment = environmentStamp(root, stack.runDir(), stack.description());
  std::vector<CacheFigures> all;
  for (const std::string& policy : policies) {
    if (interrupted()) break;
    std::fprintf(stderr, "%s: %d expiries, database reads:", policy.c_str(), load.expiries);
    all.push_back(
        measureCache(load, policy, [](int, int reads) { std::fprintf(stderr, " %d", reads); }));
    std::fprintf(stderr, "\n");
    out.write("cache.json", toText(describe(all, load, command, started, environment)));
  }
  std::printf(
      "\n%d connections, %d instances, %d expiries; latency of requests that began during a "
      "rebuild\n\n%s\n",
      load.connections, load.instances, load.expiries,
      asText(cacheTable(all, load.instances), isatty(STDOUT_FILENO) == 1).c_str());
  const int code = exitCodeOf(all, policies.size(), load.instances);
  if (code == 0) std::printf("Every policy kept its promise.\n");
  drawReport(out.path());
  std::printf("Report: %s\n", (out.path() / "report.html").c_str());
  std::fflush(stdout);
  return code;
}

void addCache(CLI::App& app, const std::vector<std::string>& command, int& exitCode) {
  struct Given {
    CacheOptions options;
    std::string policies;
  };
  auto given = std::make_shared<Given>();
  CacheOptions& options = given->options;
  CLI::App* sub = app.add_subcommand(
      "cache", "Expire a hot key under load; database reads, latency and stale answers by policy");
  sub->add_option("--policies", given->policies,
                  "Comma list (default: all): " + cachePolicyNames());
  sub->add_option("--expiries", options.expiries, "How often the key expires for each policy")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  sub->add_option("--connections", options.connections, "Readers at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  sub->add_option("--instances", options.instances, "App instances (default: as they run, else 3)")
      ->check(CLI::Range(1, 16));
  sub->add_flag("--check-consistency", options.checkConsistency,
                "Instead: count stale reads of /products by policy, reads and writes mixed");
  sub->add_option("--operations", options.operations,
                  "Reads and writes of that check, for each policy")
      ->check(CLI::Range(100L, 10'000'000L))
      ->capture_default_str();
  sub->add_option("--out", options.out,
                  "Directory for the files (default: out/<time> with the link out/latest)");
  sub->add_option("--base-port", options.basePort, "Which stack")
      ->check(CLI::Range(1024, 65400))
      ->capture_default_str();
  sub->add_flag("--keep-up", options.keepUp, "Leave a stack running that this run started");
  sub->footer("Exit: 0 every policy kept its promise; 1 one did not; 2 could not tell.");
  sub->callback([given, &command, &exitCode] {
    try {
      if (!given->policies.empty()) given->options.policies = parseList(given->policies);
    } catch (const std::invalid_argument& e) {
      throw CLI::ValidationError(e.what());
    }
    exitCode = cacheRun(given->options, command);
  });
}

}  // namespace turnstile::harness
