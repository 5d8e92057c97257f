#include "controllers/answer.h"

#include <json/json.h>

#include "app/cat.h"
#include "app/errors.h"
#include "app/mysql.h"
#include "app/redis.h"

namespace turnstile {

using drogon::HttpResponse;
using drogon::HttpResponsePtr;

namespace {

// Written by hand: names are checked to need no escaping on their way in, and a JSON tree would cost more
// than the rest of the answer.
std::string bodyOf(const Sale& sale, const SaleContext& c) {
  if (sale.outcome == Outcome::sold)
    return cat(R"({"outcome":"sold","event":")", c.event, R"(","seat":)", sale.seat, R"(,"remaining":)",
               sale.remaining, R"(,"strategy":")", c.strategy, R"(","instance":")", c.instance,
               R"(","fence":)", sale.fence, "}");
  if (sale.outcome == Outcome::soldOut)
    return cat(R"({"outcome":"sold_out","event":")", c.event, R"(","remaining":)", sale.remaining,
               R"(,"strategy":")", c.strategy, R"(","instance":")", c.instance, R"("})");
  return cat(R"({"outcome":")", sale.outcome == Outcome::busy ? "busy" : "unknown", R"(","event":")", c.event,
             R"(","strategy":")", c.strategy, R"(","instance":")", c.instance, R"("})");
}

drogon::HttpStatusCode statusOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::sold: return drogon::k200OK;
    case Outcome::soldOut: return drogon::k409Conflict;
    case Outcome::busy: return drogon::k503ServiceUnavailable;
    case Outcome::unknown: break;
  }
  return drogon::k504GatewayTimeout;
}

}  // namespace

HttpResponsePtr json(drogon::HttpStatusCode status, std::string body) {
  auto response = HttpResponse::newHttpResponse(status, drogon::CT_APPLICATION_JSON);
  response->setBody(std::move(body));
  return response;
}

HttpResponsePtr saleAnswer(const Sale& sale, const SaleContext& context) {
  auto response = json(statusOf(sale.outcome), bodyOf(sale, context));
  if (sale.outcome == Outcome::busy) response->addHeader("Retry-After", "1");
  return response;
}

HttpResponsePtr errorAnswer(drogon::HttpStatusCode status, std::string_view message) {
  Json::Value body;
  body["error"] = std::string(message);
  Json::StreamWriterBuilder compact;
  compact["indentation"] = "";
  return json(status, Json::writeString(compact, body));
}

HttpResponsePtr errorAnswer(const std::exception& error) {
  if (dynamic_cast<const BadRequest*>(&error)) return errorAnswer(drogon::k400BadRequest, error.what());
  if (dynamic_cast<const Json::Exception*>(&error))  // a body nested beyond all reason
    return errorAnswer(drogon::k400BadRequest, error.what());
  if (dynamic_cast<const UnknownEvent*>(&error)) return errorAnswer(drogon::k404NotFound, error.what());
  if (dynamic_cast<const BackendDown*>(&error)) return errorAnswer(drogon::k502BadGateway, error.what());
  if (dynamic_cast<const BackendTimeout*>(&error))
    return errorAnswer(drogon::k504GatewayTimeout, error.what());
  if (dynamic_cast<const RedisError*>(&error))
    return errorAnswer(drogon::k502BadGateway, std::string("redis: ") + error.what());
  if (dynamic_cast<const SqlError*>(&error))
    return errorAnswer(drogon::k502BadGateway, std::string("mysql: ") + error.what());
  return errorAnswer(drogon::k500InternalServerError, error.what());
}

}  // namespace turnstile
