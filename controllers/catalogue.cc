// GET /strategies: the catalogue with its promises, and the lab's points.
#include <drogon/HttpAppFramework.h>
#include <json/json.h>

#include "controllers/answer.h"
#include "controllers/routes.h"
#include "locks/registry.h"

namespace turnstile {
namespace {

Json::Value toJson(const StrategySpec& spec) {
  Json::Value out;
  out["name"] = spec.name;
  out["family"] = spec.family;
  out["summary"] = spec.summary;
  out["reentrant"] = spec.reentrant;
  out["fenced"] = spec.fenced;
  out["stocks"] = out["promises"] = out["points"] = out["try_it"] = Json::arrayValue;
  for (const StockKind kind : spec.stocks) out["stocks"].append(std::string(toString(kind)));
  if (!spec.stocks.empty()) out["default_stock"] = std::string(toString(spec.stocks.front()));
  for (const Point point : spec.points) out["points"].append(std::string(toString(point)));
  for (const Promise& promise : spec.promises) {
    Json::Value one;
    one["condition"] = std::string(promise.condition);
    one["verdict"] = std::string(toString(promise.verdict));
    one["reason"] = std::string(promise.reason);
    out["promises"].append(one);
  }
  for (const std::string& line : spec.tryIt) out["try_it"].append(line);
  return out;
}

std::string body() {
  Json::Value out;
  for (const StrategySpec& spec : catalogue()) out["strategies"].append(toJson(spec));
  for (const PointInfo& info : kPoints) {
    Json::Value one;
    one["name"] = std::string(info.name);
    one["meaning"] = std::string(info.meaning);
    out["points"].append(one);
  }
  for (const std::string_view action : kActionNames) out["actions"].append(std::string(action));
  return out.toStyledString();
}

}  // namespace

void routeCatalogue(Service&) {
  drogon::app().registerHandler(
      "/strategies",
      [text = body()](const drogon::HttpRequestPtr&,
                      std::function<void(const drogon::HttpResponsePtr&)>&& callback) {
        callback(json(drogon::k200OK, text));
      },
      {drogon::Get});
}

}  // namespace turnstile
