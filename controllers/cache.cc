// GET /cache/{key}?policy=… reads a product through the cache; DELETE (admin) lets it expire now,
// as the policy understands expiry. GET /cache lists the policies and the settings they run with.
#include <drogon/HttpAppFramework.h>
#include <json/json.h>

#include "app/errors.h"
#include "app/service.h"
#include "controllers/answer.h"
#include "controllers/params.h"
#include "controllers/routes.h"

namespace turnstile {
namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

std::string_view nameOf(CacheAnswer::Source source) {
  switch (source) {
    case CacheAnswer::Source::cache:
      return "cache";
    case CacheAnswer::Source::stale:
      return "stale";
    case CacheAnswer::Source::database:
      return "database";
    case CacheAnswer::Source::busy:
      break;
  }
  return "busy";
}

// By hand: this is the hot path, and everything in it is checked or JSON already.
HttpResponsePtr answer(const CacheAnswer& found, const std::string& key, const std::string& policy,
                       const std::string& instance) {
  const bool busy = found.source == CacheAnswer::Source::busy;
  std::string body;
  body.reserve(192 + found.entry.product.size());
  body.append(R"({"key":")").append(key).append(R"(","policy":")").append(policy);
  body.append(R"(","source":")").append(nameOf(found.source));
  body.append(R"(","instance":")").append(instance).append("\"");
  if (busy)
    body.append(R"(,"error":"nobody rebuilt it before the deadline; try again"})");
  else if (found.entry.absent)
    body.append(R"(,"error":"no such product; PUT /products/)")
        .append(key)
        .append(R"( creates it"})");
  else
    body.append(R"(,"product":)").append(found.entry.product).append("}");
  const auto status = busy                 ? drogon::k503ServiceUnavailable
                      : found.entry.absent ? drogon::k404NotFound
                                           : drogon::k200OK;
  auto response = json(status, std::move(body));
  if (busy) response->addHeader("Retry-After", "1");
  return response;
}

struct Asked {
  std::string policy = "mutex";
  std::vector<Fault> faults;
};

Asked parse(std::string_view query) {
  Asked asked;
  eachParameter(query, [&](std::string_view name, std::string_view value) {
    if (name == "policy")
      asked.policy = checkedName(name, value);
    else if (name == "fault")
      asked.faults = parseFaults(value);
    else
      throw BadRequest("unknown parameter '" + std::string(name.substr(0, 64)) +
                       "'; allowed: policy; with the admin token and the lab open also: fault");
  });
  return asked;
}

const Caches::Entry& chosen(Service& service, const Asked& asked) {
  const Caches::Entry* entry = service.caches().find(asked.policy);
  if (!entry)
    throw BadRequest("unknown policy '" + asked.policy + "'; allowed: " + cachePolicyNames());
  return *entry;
}

Task<HttpResponsePtr> expire(Service& service, HttpRequestPtr request, std::string key) {
  if (!isAdmin(request, service.config().adminToken))
    co_return errorAnswer(drogon::k403Forbidden,
                          "DELETE needs Authorization: Bearer <admin token>");
  const Caches::Entry& entry = chosen(service, parse(request->query()));
  const Millis left = co_await entry.policy->expire(std::move(key));
  co_return json(drogon::k200OK, R"({"expires_in_ms":)" + std::to_string(left.count()) + "}");
}

Task<HttpResponsePtr> handle(Service& service, HttpRequestPtr request, std::string asked) {
  try {
    const std::string key = checkedName("key", asked);
    if (request->method() == drogon::Delete) co_return co_await expire(service, request, key);
    Asked asked = parse(request->query());
    const Caches::Entry& entry = chosen(service, asked);
    CacheRequest wish;
    if (!asked.faults.empty()) {
      if (!service.config().lab || !isAdmin(request, service.config().adminToken))
        co_return errorAnswer(
            drogon::k403Forbidden,
            "fault needs Authorization: Bearer <admin token> and the setting lab");
      Lab::Plan plan;
      plan.faults = std::move(asked.faults);
      wish.lab = Lab(std::move(plan), service.clock());
    }
    wish.key = key;
    wish.deadline = service.clock().now() + service.config().requestDeadline;
    const CacheAnswer found = co_await service.caches().get(entry, std::move(wish));
    co_return answer(found, key, entry.spec->name, service.config().instance);
  } catch (const std::exception& error) {
    co_return errorAnswer(error);
  }
}

std::string policies(const Config& config) {
  Json::Value out;
  for (const CachePolicySpec& spec : cachePolicies()) {
    Json::Value one;
    one["name"] = spec.name;
    one["summary"] = spec.summary;
    one["waits"] = spec.waits;
    one["serves_stale"] = spec.servesStale;
    out["policies"].append(one);
  }
  out["ttl_ms"] = Json::Int64(config.cacheTtl.count());
  out["absent_ttl_ms"] = Json::Int64(config.cacheAbsentTtl.count());
  out["rebuild_ms"] = Json::Int64(config.cacheRebuild.count());
  out["lock"] = config.cacheLock;
  out["lock_ttl_ms"] = Json::Int64(config.cacheLockTtl.count());
  out["deadline_ms"] = Json::Int64(config.requestDeadline.count());
  out["db_limit"] = config.cacheDbLimit;
  return out.toStyledString();
}

}  // namespace

void routeCache(Service& service) {
  drogon::app().registerHandler(
      "/cache",
      [text = policies(service.config())](const HttpRequestPtr&,
                                          std::function<void(const HttpResponsePtr&)>&& callback) {
        callback(json(drogon::k200OK, text));
      },
      {drogon::Get});
  drogon::app().registerHandler(
      "/cache/{key}",
      [&service](HttpRequestPtr request, std::string key) -> Task<HttpResponsePtr> {
        return handle(service, std::move(request), std::move(key));
      },
      {drogon::Get, drogon::Delete});
}

}  // namespace turnstile
