#include "loadtest/service.h"

#include <json/json.h>

#include <cctype>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "loadtest/http_client.h"

namespace turnstile::harness {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kBetweenAudits{40};
constexpr milliseconds kSettleDeadline{6000};

std::string oneLine(std::string text) {
  text = text.substr(0, 300);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  return text;
}

HttpAnswer expectOk(const HttpCall& call) {
  HttpAnswer answer = send(call);
  if (answer.status != 200 && answer.status != 201) {
    throw std::runtime_error(call.method + " " + call.target + " answered " +
                             std::to_string(answer.status) + ": " + oneLine(answer.body));
  }
  return answer;
}

}  // namespace

void Service::resetEvent(const std::string& event, long stock) const {
  expectOk({.port = basePort_,
            .method = "PUT",
            .target = "/events/" + event,
            .bearer = token_,
            .body = "{\"stock\":" + std::to_string(stock) + "}",
            .deadline = milliseconds{15000}});
}

Audit Service::audit(const std::string& event, bool withSeats) const {
  const std::string target = "/events/" + event + (withSeats ? "?seats=1" : "");
  return parseAudit(
      expectOk({.port = basePort_, .target = target, .deadline = milliseconds{15000}}).body);
}

Audit Service::settledAudit(const std::string& event) const {
  const auto until = Clock::now() + kSettleDeadline;
  std::optional<Audit> last;
  for (int same = 0; same < 2;) {
    try {
      const Audit now = audit(event);
      same = last && now == *last ? same + 1 : 0;
      last = now;
      if (Clock::now() > until) break;
    } catch (const std::exception&) {
      if (Clock::now() > until) throw;
      same = 0;  // a store that is down may come back; what it holds then counts
    }
    std::this_thread::sleep_for(kBetweenAudits);
  }
  return *last;
}

std::vector<Metrics> Service::metrics(int instances) const {
  std::vector<Metrics> readings;
  for (int i = 1; i <= instances; ++i) {
    try {
      readings.push_back(parseMetrics(
          send({.port = basePort_ + i, .target = "/metrics", .deadline = milliseconds{1000}})
              .body));
    } catch (const std::exception&) {
      readings.emplace_back();
    }
  }
  return readings;
}

Audit parseAudit(const std::string& text) {
  Json::Value json;
  std::string problem;
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  if (!reader->parse(text.data(), text.data() + text.size(), &json, &problem) || !json.isObject()) {
    throw std::runtime_error("the audit is not JSON: " + text.substr(0, 200));
  }
  for (const char* field : {"stock", "remaining", "sold", "distinct_seats", "double_sold"}) {
    if (!json[field].isIntegral())
      throw std::runtime_error(std::string("the audit lacks the number ") + field);
  }
  if (json["unreachable"].isArray() && !json["unreachable"].empty()) {
    std::string stores;
    for (const auto& store : json["unreachable"]) stores += " " + store.asString();
    throw std::runtime_error("the audit could not read:" + stores);
  }
  Audit audit;
  audit.stock = json["stock"].asInt64();
  audit.remaining = json["remaining"].asInt64();
  audit.sold = json["sold"].asInt64();
  audit.distinctSeats = json["distinct_seats"].asInt64();
  audit.doubleSold = json["double_sold"].asInt64();
  audit.verdict = json["verdict"].isString() ? json["verdict"].asString() : "";
  if (json["double_seats"].isArray()) {
    for (const auto& seat : json["double_seats"])
      audit.doubleSeats.push_back(static_cast<long>(seat.asInt64()));
  }
  return audit;
}

}  // namespace turnstile::harness
