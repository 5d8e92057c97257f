// PUT /events/{id} creates or resets an event everywhere; GET /events/{id} is its audit.
#include <drogon/HttpAppFramework.h>
#include <json/json.h>

#include "app/audit.h"
#include "app/errors.h"
#include "app/service.h"
#include "controllers/answer.h"
#include "controllers/params.h"
#include "controllers/routes.h"

namespace turnstile {
namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;

constexpr int kMostSeats = 100'000'000;
constexpr std::size_t kMostDoubleSeats = 1000;

int seatsIn(const HttpRequestPtr& request) {
  // Read as JSON whatever its Content-Type says: `curl -d` says it is a form.
  Json::Value body;
  std::string errors;
  const std::string_view text = request->body();
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  const bool isJson = reader->parse(text.data(), text.data() + text.size(), &body, &errors);
  const std::string allowed =
      "the body must be {\"stock\":N} with N from 0 to " + std::to_string(kMostSeats);
  if (!isJson || !body.isObject() || !body["stock"].isInt()) throw BadRequest(allowed);
  const int seats = body["stock"].asInt();
  if (seats < 0 || seats > kMostSeats) throw BadRequest(allowed);
  return seats;
}

Json::Value toJson(const Audit& audit, bool withSeats) {
  Json::Value out;
  out["event"] = audit.event;
  out["stock"] = Json::Int64(audit.stock);
  out["remaining"] = Json::Int64(audit.remaining);
  out["sold"] = Json::Int64(audit.sold);
  out["distinct_seats"] = Json::Int64(audit.distinctSeats);
  out["double_sold"] = Json::Int64(audit.doubleSold);
  out["oversold"] = Json::Int64(audit.oversold);
  out["lost"] = Json::Int64(audit.lost);
  out["unavailable"] = Json::Int64(audit.unavailable);
  out["verdict"] = std::string(toString(audit.verdict));
  out["stores"] = Json::arrayValue;
  for (const StoreAudit& store : audit.stores) {
    Json::Value one;
    one["store"] = store.store;
    one["remaining"] = Json::Int64(store.remaining);
    one["sold"] = Json::Int64(store.sold);
    out["stores"].append(one);
  }
  for (const std::string& server : audit.away) out["away"].append(server);
  for (const std::string& store : audit.unreachable) out["unreachable"].append(store);
  if (withSeats) {
    out["double_seats"] = Json::arrayValue;
    for (std::size_t i = 0; i < std::min(audit.doubleSeats.size(), kMostDoubleSeats); ++i)
      out["double_seats"].append(audit.doubleSeats[i]);
  }
  return out;
}

std::string compact(const Json::Value& value) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "";
  return Json::writeString(builder, value);
}

Task<HttpResponsePtr> put(Service& service, HttpRequestPtr request, std::string id) {
  if (!isAdmin(request, service.config().adminToken))
    co_return errorAnswer(drogon::k403Forbidden, "PUT needs Authorization: Bearer <admin token>");
  const std::string event = checkedName("event", id);
  const int seats = seatsIn(request);
  co_await service.resetEvent(event, seats);
  co_return json(drogon::k200OK, compact(toJson(co_await audit(event, service.stores()), false)));
}

std::vector<Store*> chosenStores(const Service& service, std::string_view name) {
  std::vector<Store*> chosen;
  std::string known;
  for (Store* store : service.stores()) {
    known.append(known.empty() ? "" : ", ").append(store->name());
    if (name.empty() || store->name() == name) chosen.push_back(store);
  }
  if (chosen.empty())
    throw BadRequest("stock '" + std::string(name.substr(0, 64)) + "' is not allowed: " + known);
  return chosen;
}

Task<HttpResponsePtr> get(Service& service, HttpRequestPtr request, std::string id) {
  const std::string event = checkedName("event", id);
  std::string store;
  bool withSeats = false;
  eachParameter(request->query(), [&](std::string_view name, std::string_view value) {
    if (name == "stock") store = std::string(value);
    else if (name == "seats") withSeats = checkedFlag(name, value);
    else throw BadRequest("unknown parameter '" + std::string(name.substr(0, 64)) +
                          "'; allowed: stock, seats");
  });
  const Audit found = co_await audit(event, chosenStores(service, store));
  co_return json(drogon::k200OK, compact(toJson(found, withSeats)));
}

Task<HttpResponsePtr> handle(Service& service, HttpRequestPtr request, std::string id) {
  try {
    // Not one ?: expression: GCC 12 evaluates the arguments of both sides of a co_await in it.
    if (request->method() == drogon::Put) co_return co_await put(service, request, std::move(id));
    co_return co_await get(service, request, std::move(id));
  } catch (const std::exception& error) {
    co_return errorAnswer(error);
  }
}

}  // namespace

void routeEvents(Service& service) {
  drogon::app().registerHandler(
      "/events/{id}",
      [&service](HttpRequestPtr request, std::string id) -> Task<HttpResponsePtr> {
        return handle(service, std::move(request), std::move(id));
      },
      {drogon::Get, drogon::Put});
}

}  // namespace turnstile
