// GET /token?policy=… hands out the token of the moment; DELETE (admin) lets it near its end now.
#include <drogon/HttpAppFramework.h>

#include "app/errors.h"
#include "app/service.h"
#include "controllers/answer.h"
#include "controllers/params.h"
#include "controllers/routes.h"

namespace turnstile {
namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

std::string checkedPolicy(const HttpRequestPtr& request) {
  std::string policy = "mutex";
  eachParameter(request->query(), [&](std::string_view name, std::string_view value) {
    if (name != "policy")
      throw BadRequest("unknown parameter '" + std::string(name.substr(0, 64)) +
                       "'; allowed: policy");
    policy = checkedName(name, value);
  });
  return policy;
}

HttpResponsePtr answer(const std::optional<Token>& token, const std::string& policy,
                       const std::string& instance) {
  if (!token) {
    auto busy = errorAnswer(drogon::k503ServiceUnavailable,
                            "the token was not refreshed in time; try again");
    busy->addHeader("Retry-After", "1");
    return busy;
  }
  return json(drogon::k200OK, R"({"token":")" + token->text + R"(","valid_ms":)" +
                                  std::to_string(token->left.count()) + R"(,"source":")" +
                                  (token->refreshed ? "issuer" : "cache") + R"(","policy":")" +
                                  policy + R"(","instance":")" + instance + "\"}");
}

Task<HttpResponsePtr> handle(Service& service, HttpRequestPtr request) {
  try {
    const std::string name = checkedPolicy(request);
    TokenPolicy* policy = service.caches().token(name);
    if (!policy) {
      std::string allowed;
      for (const TokenPolicySpec& spec : tokenPolicies())
        allowed.append(allowed.empty() ? "" : ", ") += spec.name;
      throw BadRequest("unknown policy '" + name + "'; allowed: " + allowed);
    }
    if (request->method() == drogon::Delete) {
      if (!isAdmin(request, service.config().adminToken))
        co_return errorAnswer(drogon::k403Forbidden,
                              "DELETE needs Authorization: Bearer <admin token>");
      co_await policy->expire();
      co_return json(drogon::k200OK, R"({"expired":true})");
    }
    const TimePoint deadline = service.clock().now() + service.config().requestDeadline;
    const std::optional<Token> token = co_await policy->get(deadline);
    co_return answer(token, name, service.config().instance);
  } catch (const std::exception& error) {
    co_return errorAnswer(error);
  }
}

}  // namespace

void routeToken(Service& service) {
  drogon::app().registerHandler("/token",
                                [&service](HttpRequestPtr request) -> Task<HttpResponsePtr> {
                                  return handle(service, std::move(request));
                                },
                                {drogon::Get, drogon::Delete});
}

}  // namespace turnstile
