// GET /products/{id}?policy=… reads a product through the cache; PUT (admin) {"name","price"}
// writes it and answers with its version. The lab's parameters (admin token, lab open) widen the
// races between the two: fault=before-fill:pause-<ms>, nested=1, and miss=1, which reads past the
// cache.
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

constexpr std::size_t kLongestName = 120;
constexpr int kHighestPrice = 1'000'000'000;

struct Asked {
  std::string policy = "rw-lock";
  bool lab = false;  // any lab parameter was given
  bool miss = false;
  Lab::Plan plan;
};

Asked parse(std::string_view query) {
  Asked asked;
  eachParameter(query, [&](std::string_view name, std::string_view value) {
    if (name == "policy") {
      asked.policy = checkedName(name, value);
      return;
    }
    asked.lab = true;
    if (name == "fault")
      asked.plan.faults = parseFaults(value);
    else if (name == "nested")
      asked.plan.nested = checkedFlag(name, value);
    else if (name == "miss")
      asked.miss = checkedFlag(name, value);
    else
      throw BadRequest(
          "unknown parameter '" + std::string(name.substr(0, 64)) +
          "'; allowed: policy; with the admin token and the lab open also: fault, nested, miss");
  });
  return asked;
}

ProductPolicy& policyOf(Service& service, const Asked& asked, bool lab) {
  const ProductPolicySpec* spec = findProductPolicy(asked.policy);
  if (!spec || (spec->brokenOnPurpose && !lab))
    throw BadRequest("unknown policy '" + asked.policy + "'; allowed: " + productPolicyNames());
  return *service.caches().products(asked.policy);
}

HttpResponsePtr busy() {
  auto response =
      errorAnswer(drogon::k503ServiceUnavailable, "the lock was not granted in time; try again");
  response->addHeader("Retry-After", "1");
  return response;
}

HttpResponsePtr answer(const ProductAnswer& found, const std::string& id, const Asked& asked,
                       const std::string& instance) {
  using Source = ProductAnswer::Source;
  if (found.source == Source::busy) return busy();
  if (found.source == Source::absent)
    return errorAnswer(drogon::k404NotFound,
                       "no such product; PUT /products/" + id + " creates it");
  std::string body = R"({"product":)" + found.product + R"(,"source":")";
  body.append(found.source == Source::cache ? "cache" : "database");
  body.append(R"(","policy":")").append(asked.policy);
  body.append(R"(","instance":")").append(instance).append("\"}");
  return json(drogon::k200OK, std::move(body));
}

ProductWrite readBody(const HttpRequestPtr& request) {
  const auto body = request->getJsonObject();
  const std::string allowed = "the body must be {\"name\":\"1 to 120 bytes\",\"price\":0 to " +
                              std::to_string(kHighestPrice) + "}";
  if (!body || !body->isObject() || !(*body)["name"].isString() || !(*body)["price"].isInt())
    throw BadRequest(allowed);
  ProductWrite write;
  write.name = (*body)["name"].asString();
  write.price = (*body)["price"].asInt();
  if (write.name.empty() || write.name.size() > kLongestName || write.price < 0 ||
      write.price > kHighestPrice)
    throw BadRequest(allowed);
  return write;
}

Task<HttpResponsePtr> put(Service& service, HttpRequestPtr request, ProductPolicy& policy,
                          std::string id, TimePoint deadline, Lab lab) {
  ProductWrite write = readBody(request);
  write.id = std::move(id);
  write.deadline = deadline;
  write.lab = std::move(lab);
  const Service::InFlight counted(service);
  const std::optional<std::uint64_t> version = co_await policy.write(std::move(write));
  if (!version) co_return busy();
  co_return json(drogon::k200OK, R"({"version":)" + std::to_string(*version) + "}");
}

Task<HttpResponsePtr> handle(Service& service, HttpRequestPtr request, std::string askedId) {
  try {
    const Config& config = service.config();
    const std::string id = checkedName("id", askedId);
    Asked asked = parse(request->query());
    const bool admin = isAdmin(request, config.adminToken);
    const bool writes = request->method() == drogon::Put;
    if (writes && !admin)
      co_return errorAnswer(drogon::k403Forbidden, "PUT needs Authorization: Bearer <admin token>");
    if (asked.lab && !(admin && config.lab))
      co_return errorAnswer(drogon::k403Forbidden,
                            config.lab ? "lab parameters need Authorization: Bearer <admin token>"
                                       : "the lab is closed (setting lab)");
    ProductPolicy& policy = policyOf(service, asked, admin && config.lab);
    const TimePoint deadline = service.clock().now() + config.requestDeadline;
    Lab lab;
    if (asked.lab) lab = Lab(asked.plan, service.clock());
    if (writes) co_return co_await put(service, request, policy, id, deadline, lab);
    ProductRead read;
    read.id = id;
    read.deadline = deadline;
    read.lab = lab;
    read.pastCache = asked.miss;
    const ProductAnswer found = co_await policy.read(std::move(read));
    co_return answer(found, id, asked, config.instance);
  } catch (const std::exception& error) {
    co_return errorAnswer(error);
  }
}

}  // namespace

void routeProducts(Service& service) {
  drogon::app().registerHandler(
      "/products/{id}",
      [&service](HttpRequestPtr request, std::string id) -> Task<HttpResponsePtr> {
        return handle(service, std::move(request), std::move(id));
      },
      {drogon::Get, drogon::Put});
}

}  // namespace turnstile
