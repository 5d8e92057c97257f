#include "loadtest/wrk_output.h"

#include <json/json.h>

#include <memory>
#include <stdexcept>

namespace turnstile::harness {
namespace {

constexpr std::string_view kMark = "TURNSTILE ";

std::string lastWords(std::string output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == ' ')) output.pop_back();
  if (output.empty()) return "nothing";
  const auto line = output.rfind('\n');
  return output.substr(line == std::string::npos ? 0 : line + 1).substr(0, 300);
}

std::string markedLine(const std::string& output) {
  std::size_t at = output.rfind(kMark);
  if (at == std::string::npos || (at > 0 && output[at - 1] != '\n')) {
    throw std::runtime_error("wrk gave no report; it said: " + lastWords(output));
  }
  at += kMark.size();
  return output.substr(at, output.find('\n', at) - at);
}

Latency latencyOf(const Json::Value& json) {
  Latency latency{json["mean"].asDouble(), json["max"].asDouble(), {}};
  for (const auto& mark : json["percentiles"]) {
    latency.percentiles.emplace_back(mark[0].asDouble(), mark[1].asDouble());
  }
  return latency;
}

}  // namespace

ClientCount parseWrkOutput(const std::string& output) {
  const std::string line = markedLine(output);
  Json::Value json;
  std::string problem;
  const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
  if (!reader->parse(line.data(), line.data() + line.size(), &json, &problem) || !json.isObject()) {
    throw std::runtime_error("wrk's report is not JSON: " + problem);
  }
  try {
    ClientCount count;
    count.seconds = json["seconds"].asDouble();
    count.requests = json["requests"].asInt64();
    count.issued = json["issued"].asInt64();
    const auto& answers = json["answers"];
    count.sold = answers["sold"].asInt64();
    count.soldOut = answers["sold_out"].asInt64();
    count.busy = answers["busy"].asInt64();
    count.unknown = answers["unknown"].asInt64();
    count.error = answers["error"].asInt64();
    const auto& socket = json["socket_errors"];
    count.connectErrors = socket["connect"].asInt64();
    count.readErrors = socket["read"].asInt64();
    count.writeErrors = socket["write"].asInt64();
    count.timeouts = socket["timeout"].asInt64();
    count.latency = latencyOf(json["latency_ms"]);
    count.firstError = json["first_error"].isString() ? json["first_error"].asString() : "";
    for (const auto& seat : json["seats"]) count.seats.push_back(static_cast<long>(seat.asInt64()));
    return count;
  } catch (const Json::Exception& e) {
    throw std::runtime_error(std::string("wrk's report is not as expected: ") + e.what());
  }
}

}  // namespace turnstile::harness
