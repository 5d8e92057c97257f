// POST /lock: sells one ticket. GET does the same, for a browser's address line.
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
using Answer = std::function<void(const HttpResponsePtr&)>;

constexpr std::int64_t kLongestLabTime = 120'000;

struct Asked {
  const Service::Entry* strategy = nullptr;
  std::optional<StockKind> stock;
  bool lab = false;  // any lab parameter was given
  Lab::Plan plan;
  SaleRequest sale;
};

/// Not the request is wrong, but the caller.
struct Forbidden : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const Service::Entry* checkedStrategy(const Service& service, std::string_view value) {
  if (const Service::Entry* entry = service.find(value)) return entry;
  throw BadRequest("unknown strategy '" + checkedName("strategy", value) +
                   "'; allowed: " + strategyNames());
}

StockKind checkedStock(std::string_view value) {
  if (const auto kind = parseStockKind(value)) return *kind;
  throw BadRequest("stock '" + std::string(value.substr(0, 64)) + "' is not allowed: redis or mysql");
}

// true: it was one of the lab's.
bool readLabParameter(Asked& asked, std::string_view name, std::string_view value) {
  const auto millis = [&](std::int64_t least) {
    return Millis{checkedNumber(name, value, least, kLongestLabTime)};
  };
  if (name == "hold") asked.plan.hold = millis(0);
  else if (name == "fault") asked.plan.faults = parseFaults(value);
  else if (name == "nested") asked.plan.nested = checkedFlag(name, value);
  else if (name == "fencing") asked.plan.fencing = checkedFlag(name, value);
  else if (name == "wait") asked.sale.wait = millis(0);
  else if (name == "ttl") asked.sale.ttl = millis(1), asked.sale.ttlGiven = true;
  else return false;
  return true;
}

Asked parse(std::string_view query, const Service& service) {
  const Config& config = service.config();
  Asked asked;
  asked.sale.event = "demo";
  asked.sale.user = "anonymous";
  asked.sale.ttl = config.lockTtl;
  asked.sale.wait = config.lockWait;
  eachParameter(query, [&](std::string_view name, std::string_view value) {
    if (name == "event") asked.sale.event = checkedName(name, value);
    else if (name == "strategy") asked.strategy = checkedStrategy(service, value);
    else if (name == "user") asked.sale.user = checkedName(name, value);
    else if (name == "stock") asked.stock = checkedStock(value);
    else if (readLabParameter(asked, name, value)) asked.lab = true;
    else
      throw BadRequest("unknown parameter '" + std::string(name.substr(0, 64)) +
                       "'; allowed: event, strategy, stock, user; with the admin token and the lab "
                       "open also: hold, fault, nested, ttl, wait, fencing");
  });
  if (!asked.strategy) asked.strategy = checkedStrategy(service, config.strategy);
  return asked;
}

StockKind chooseStock(const StrategySpec& spec, std::optional<StockKind> asked,
                      const Config& config) {
  const auto supports = [&](StockKind kind) {
    return std::find(spec.stocks.begin(), spec.stocks.end(), kind) != spec.stocks.end();
  };
  if (asked) {
    if (supports(*asked)) return *asked;
    std::string allowed;
    for (const StockKind kind : spec.stocks)
      allowed.append(allowed.empty() ? "" : ", ").append(toString(kind));
    throw BadRequest("strategy " + spec.name + " does not sell from stock " +
                     std::string(toString(*asked)) + "; allowed: " +
                     (allowed.empty() ? "none, it brings its own" : allowed));
  }
  const StockKind configured = parseStockKind(config.stock).value_or(StockKind::redis);
  if (spec.stocks.empty() || supports(configured)) return configured;
  return spec.stocks.front();
}

void count(StrategyMetrics& metrics, Outcome outcome) {
  switch (outcome) {
    case Outcome::sold: return metrics.sold.add();
    case Outcome::soldOut: return metrics.soldOut.add();
    case Outcome::busy: return metrics.busy.add();
    case Outcome::unknown: return metrics.unknown.add();
  }
}

Asked checked(Service& service, const HttpRequestPtr& request) {
  const Config& config = service.config();
  Asked asked = parse(request->query(), service);
  if (asked.lab) {
    if (!config.lab) throw Forbidden("the lab is closed (setting lab)");
    if (!isAdmin(request, config.adminToken))
      throw Forbidden("lab parameters need Authorization: Bearer <admin token>");
    asked.sale.lab = Lab(std::move(asked.plan), service.clock());
  }
  asked.sale.stock = chooseStock(*asked.strategy->spec, asked.stock, config);
  asked.sale.deadline = service.clock().now() + std::max(config.requestDeadline, asked.sale.wait);
  return asked;
}

// Answers, whatever happens. Not a Task, which Drogon would wrap into another: every sale comes this way.
drogon::AsyncTask handle(Service& service, HttpRequestPtr request, Answer answer) {
  const Service::InFlight counted(service);
  HttpResponsePtr response;
  try {
    Asked asked = checked(service, request);
    const auto& [spec, strategy, metrics] = *asked.strategy;
    const std::string event = asked.sale.event;
    Sale sale;
    try {
      sale = co_await strategy->sell(std::move(asked.sale));
    } catch (const BackendTimeout&) {
      sale = Sale::unknown();
    } catch (const std::exception&) {
      metrics.failed.add();
      throw;
    }
    count(metrics, sale.outcome);
    response = saleAnswer(sale, {event, spec->name, service.config().instance});
  } catch (const Forbidden& forbidden) {
    response = errorAnswer(drogon::k403Forbidden, forbidden.what());
  } catch (const std::exception& error) {
    response = errorAnswer(error);
  }
  if (service.draining) response->addHeader("Connection", "close");  // the next sale is another instance's
  answer(response);
}

}  // namespace

void routeSale(Service& service) {
  drogon::app().registerHandler(
      "/lock",
      [&service](const HttpRequestPtr& request, Answer&& answer) {
        handle(service, request, std::move(answer));
      },
      {drogon::Post, drogon::Get});
}

}  // namespace turnstile
