#include "loadtest/cache_figures.h"

#include <algorithm>
#include <cmath>

#include "loadtest/format.h"

namespace turnstile::harness {
namespace {

int mostAllowed(const ReadsPerExpiry& promised, int instances) {
  return promised.perInstance ? promised.most * instances : promised.most;
}

std::string promisedText(const CachePolicySpec& spec, int instances) {
  const int most = mostAllowed(spec.promised, instances);
  std::string text = most == 0 ? "more than " + std::to_string(spec.promised.least - 1)
                     : spec.promised.least == most ? "exactly " + std::to_string(most)
                                                   : "at most " + std::to_string(most);
  return text + (spec.waits ? "" : ", nobody waits");
}

std::string range(int least, int most) {
  return least == most ? std::to_string(least)
                       : std::to_string(least) + " to " + std::to_string(most);
}

const char* nameOf(CacheVerdict::Kind kind) {
  return kind == CacheVerdict::Kind::kept     ? "kept"
         : kind == CacheVerdict::Kind::broken ? "broken"
                                              : "untold";
}

}  // namespace

int CacheFigures::leastReads() const {
  return dbReads.empty() ? 0 : *std::min_element(dbReads.begin(), dbReads.end());
}
int CacheFigures::mostReads() const {
  return dbReads.empty() ? 0 : *std::max_element(dbReads.begin(), dbReads.end());
}
double CacheFigures::latency(double quantile) const {
  if (windowMs.empty()) return 0;
  const auto at =
      static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(windowMs.size())));
  return windowMs[std::clamp<std::size_t>(at, 1, windowMs.size()) - 1];
}

CacheVerdict judge(const CacheFigures& figures, const CachePolicySpec& spec, int instances) {
  using Kind = CacheVerdict::Kind;
  if (figures.dbReads.empty() || figures.answers == 0)
    return {Kind::untold, "nothing was measured"};
  if (figures.errors > 0 && spec.promised.most > 0)  // a stampede may well take the database down
    return {Kind::broken,
            std::to_string(figures.errors) + " errors, the first: " + figures.firstError};
  const int most = mostAllowed(spec.promised, instances);
  if (figures.leastReads() < spec.promised.least)
    return most == 0
               ? CacheVerdict{Kind::untold, "no stampede: the load was too weak to mean anything"}
               : CacheVerdict{Kind::broken, "an expiry without a rebuild"};
  if (most > 0 && figures.mostReads() > most)
    return {Kind::broken, std::to_string(figures.mostReads()) +
                              " database reads in one expiry, promised " +
                              promisedText(spec, instances)};
  if (!spec.waits && figures.waited > 0)
    return {Kind::broken, std::to_string(figures.waited) + " requests waited for the database"};
  return {Kind::kept, ""};
}

const CachePolicySpec& specOf(const std::string& policy) {
  const auto& all = cachePolicies();
  return *std::find_if(all.begin(), all.end(),
                       [&](const auto& spec) { return spec.name == policy; });
}

Table cacheTable(const std::vector<CacheFigures>& all, int instances) {
  Table table{{{"policy", true},
               {"db reads/expiry"},
               {"p50 ms"},
               {"p99 ms"},
               {"max ms"},
               {"answers"},
               {"waited"},
               {"stale"},
               {"errors"},
               {"promised", true},
               {"verdict", true}},
              {}};
  for (const CacheFigures& one : all) {
    const CachePolicySpec& spec = specOf(one.policy);
    table.rows.push_back(
        {one.policy, range(one.leastReads(), one.mostReads()), millis(one.latency(0.5)),
         millis(one.latency(0.99)), millis(one.latency(1)),
         thousands(static_cast<double>(one.answers)), thousands(static_cast<double>(one.waited)),
         thousands(static_cast<double>(one.stale)), thousands(static_cast<double>(one.errors)),
         promisedText(spec, instances), nameOf(judge(one, spec, instances).kind)});
  }
  return table;
}

Json::Value toJson(const CacheFigures& figures, int instances) {
  const CachePolicySpec& spec = specOf(figures.policy);
  const CacheVerdict verdict = judge(figures, spec, instances);
  Json::Value out;
  out["name"] = figures.policy;
  out["summary"] = spec.summary;
  out["db_reads"] = Json::arrayValue;
  for (const int reads : figures.dbReads) out["db_reads"].append(reads);
  Json::Value& window = out["window"];
  window["answers"] = Json::Int64(figures.answers);
  window["waited"] = Json::Int64(figures.waited);
  window["stale"] = Json::Int64(figures.stale);
  window["errors"] = Json::Int64(figures.errors);
  window["first_error"] = figures.firstError;
  window["p50_ms"] = figures.latency(0.5);
  window["p99_ms"] = figures.latency(0.99);
  window["max_ms"] = figures.latency(1);
  out["promised"] = promisedText(spec, instances);
  out["verdict"] = nameOf(verdict.kind);
  out["reason"] = verdict.reason;
  return out;
}

}  // namespace turnstile::harness
