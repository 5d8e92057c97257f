// /ping, the HTTP ceiling every throughput is compared with; /healthz, /readyz, /metrics; and the answer
// where no route matches.
#include <drogon/HttpAppFramework.h>
#include <json/json.h>

#include "app/service.h"
#include "controllers/answer.h"
#include "controllers/routes.h"

namespace turnstile {
namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using Callback = std::function<void(const HttpResponsePtr&)>;

Task<HttpResponsePtr> readiness(Service& service) {
  Json::Value out;
  bool ready = !service.draining;
  for (const BackendState& state : co_await service.backendStates()) {
    out["backends"][state.name] = state.detail;
    ready = ready && state.up;
    if (state.name == "redis-main") out["cache"] = service.caches().describe(state.up);
  }
  out["ready"] = ready;
  out["instance"] = service.config().instance;
  co_return json(ready ? drogon::k200OK : drogon::k503ServiceUnavailable, out.toStyledString());
}

HttpResponsePtr noRoute(drogon::HttpStatusCode status, const HttpRequestPtr& request) {
  constexpr std::string_view kPaths =
      "; allowed: POST /lock, GET or PUT /events/{id}, GET /strategies, GET /cache/{key}, GET or PUT "
      "/products/{id}, GET /token, /ping, /healthz, /readyz, /metrics";
  const std::string asked = std::string(request->methodString()) + " " + request->path().substr(0, 100);
  if (status == drogon::k404NotFound) return errorAnswer(status, "no such path: " + asked + std::string(kPaths));
  if (status == drogon::k405MethodNotAllowed)
    return errorAnswer(status, "method not allowed: " + asked + std::string(kPaths));
  return errorAnswer(status, "request refused: " + asked);
}

}  // namespace

void routeHealth(Service& service) {
  auto& app = drogon::app();
  app.registerHandler(
      "/ping",
      [](const HttpRequestPtr&, Callback&& callback) {
        callback(json(drogon::k200OK, R"({"ping":"pong"})"));
      },
      {drogon::Get, drogon::Post});
  app.registerHandler(
      "/healthz",
      [](const HttpRequestPtr&, Callback&& callback) {
        callback(json(drogon::k200OK, R"({"alive":true})"));
      },
      {drogon::Get});
  app.registerHandler(
      "/readyz",
      // NOLINTNEXTLINE(performance-unnecessary-value-param): Drogon's way to know a coroutine
      [&service](HttpRequestPtr) -> Task<HttpResponsePtr> { return readiness(service); },
      {drogon::Get});
  app.registerHandler(
      "/metrics",
      [&service](const HttpRequestPtr&, Callback&& callback) {
        auto response = drogon::HttpResponse::newHttpResponse(drogon::k200OK, drogon::CT_TEXT_PLAIN);
        response->setBody(service.metrics().prometheus() + service.caches().prometheus());
        callback(response);
      },
      {drogon::Get});
  app.setCustomErrorHandler(noRoute);
}

}  // namespace turnstile
