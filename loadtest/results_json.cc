#include <json/writer.h>

#include "loadtest/results.h"

namespace turnstile::harness {
namespace {

Json::Value pointJson(const Point& point) {
  Json::Value json;
  json["connections"] = point.connections;
  json["instances"] = point.instances;
  return json;
}

Json::Value spreadJson(const Spread& spread) {
  Json::Value json;
  json["median"] = spread.median;
  json["min"] = spread.min;
  json["max"] = spread.max;
  json["rounds"] = spread.rounds;
  return json;
}

Json::Value latencyJson(const Latency& latency) {
  Json::Value json;
  json["mean"] = latency.mean;
  json["max"] = latency.max;
  json["percentiles"] = Json::arrayValue;
  for (const auto& [mark, value] : latency.percentiles) {
    Json::Value pair(Json::arrayValue);
    pair.append(mark);
    pair.append(value);
    json["percentiles"].append(pair);
  }
  return json;
}

Json::Value answersJson(const ClientCount& client) {
  Json::Value json;
  json["sold"] = Json::Int64(client.sold);
  json["sold_out"] = Json::Int64(client.soldOut);
  json["busy"] = Json::Int64(client.busy);
  json["unknown"] = Json::Int64(client.unknown);
  json["error"] = Json::Int64(client.error);
  return json;
}

Json::Value socketJson(const ClientCount& client) {
  Json::Value json;
  json["connect"] = Json::Int64(client.connectErrors);
  json["read"] = Json::Int64(client.readErrors);
  json["write"] = Json::Int64(client.writeErrors);
  json["timeout"] = Json::Int64(client.timeouts);
  return json;
}

Json::Value auditJson(const std::optional<Audit>& audit) {
  if (!audit) return Json::nullValue;
  Json::Value json;
  json["stock"] = Json::Int64(audit->stock);
  json["remaining"] = Json::Int64(audit->remaining);
  json["sold"] = Json::Int64(audit->sold);
  json["distinct_seats"] = Json::Int64(audit->distinctSeats);
  json["double_sold"] = Json::Int64(audit->doubleSold);
  json["oversold"] = Json::Int64(audit->oversold());
  json["lost"] = Json::Int64(audit->lost());
  json["verdict"] = audit->verdict;
  json["double_seats"] = Json::arrayValue;
  for (const long seat : audit->doubleSeats) json["double_seats"].append(Json::Int64(seat));
  return json;
}

Json::Value lockJson(const LockFigures& lock) {
  Json::Value json;
  json["locks"] = lock.locks;
  json["wait_p50_ms"] = lock.waitP50Ms;
  json["wait_p99_ms"] = lock.waitP99Ms;
  json["attempts"] = lock.attempts;
  json["granted"] = lock.granted;
  json["refused"] = lock.refused;
  json["lost"] = lock.lost;
  json["fence_refused"] = lock.fenceRefused;
  json["fairness"] = lock.fairness();
  json["sold_per_instance"] = Json::arrayValue;
  for (const double sold : lock.soldPerInstance) json["sold_per_instance"].append(sold);
  return json;
}

Json::Value runJson(const Run& run) {
  Json::Value json;
  json["point"] = pointJson(run.point);
  json["round"] = run.round;
  json["strategy"] = run.strategy;
  json["event"] = run.event;
  json["started_at"] = run.startedAt;
  json["seconds"] = run.client.seconds;
  json["requests"] = Json::Int64(run.client.requests);
  json["answers"] = answersJson(run.client);
  json["socket_errors"] = socketJson(run.client);
  json["first_error"] = run.client.firstError;
  json["latency_ms"] = latencyJson(run.client.latency);
  json["sales_per_second"] = run.salesPerSecond();
  json["ceiling"] = run.ceiling;
  json["of_ceiling"] = run.ofCeiling();
  json["seconds_to_empty"] = run.secondsToEmpty;
  json["audit"] = auditJson(run.audit);
  json["lock"] = lockJson(run.lock);
  json["in_flight_allowed"] = Json::Int64(run.judgement.inFlightAllowed);
  json["verdict"] = nameOf(run.judgement.verdict);
  json["reason"] = run.judgement.reason;
  return json;
}

Json::Value rowJson(const Row& row) {
  Json::Value json;
  json["point"] = pointJson(row.point);
  json["strategy"] = row.strategy;
  json["sales_per_second"] = spreadJson(row.salesPerSecond);
  json["of_ceiling"] = spreadJson(row.ofCeiling);
  json["of_fastest"] = row.ofFastest;
  json["tied_with_above"] = row.tiedWithAbove;
  json["p50_ms"] = spreadJson(row.p50);
  json["p99_ms"] = spreadJson(row.p99);
  json["busy_share"] = row.busyShare;
  json["sold"] = Json::Int64(row.sold);
  json["double_sold"] = Json::Int64(row.doubleSold);
  json["lost"] = Json::Int64(row.lost);
  json["in_flight_allowed"] = Json::Int64(row.inFlightAllowed);
  json["seconds_to_empty"] = row.secondsToEmpty;
  json["lock"] = lockJson(row.lock);
  json["verdict"] = nameOf(row.verdict);
  json["reason"] = row.reason;
  json["promised"] = row.promised;
  json["promised_reason"] = row.promisedReason;
  json["promise"] = nameOf(row.promise);
  json["warnings"] = Json::arrayValue;
  for (const auto& warning : row.warnings) json["warnings"].append(warning);
  return json;
}

Json::Value summaryJson(const Summary& summary) {
  Json::Value json;
  json["exit_code"] = summary.exitCode;
  json["findings"] = Json::arrayValue;
  for (const auto& finding : summary.findings) json["findings"].append(finding);
  json["ceilings"] = Json::arrayValue;
  for (const auto& ceiling : summary.ceilings) {
    Json::Value one;
    one["point"] = pointJson(ceiling.point);
    one["answers_per_second"] = spreadJson(ceiling.answersPerSecond);
    json["ceilings"].append(one);
  }
  json["rows"] = Json::arrayValue;
  for (const auto& row : summary.rows) json["rows"].append(rowJson(row));
  return json;
}

Json::Value optionsJson(const CompareOptions& options) {
  Json::Value json;
  json["mode"] = options.sellOut ? "sell-out" : "throughput";
  json["duration_s"] = options.duration;
  json["warmup_s"] = options.warmup;
  json["rounds"] = options.rounds;
  json["stock"] = Json::Int64(options.seats());
  json["stock_kind"] = options.stockKind;
  json["threads"] = options.threads;
  json["seed"] = Json::UInt64(options.seed);
  json["scan"] = Json::nullValue;
  if (options.scan) {
    json["scan"]["key"] = options.scan->key;
    for (const int value : options.scan->values) json["scan"]["values"].append(value);
  }
  return json;
}

Json::Value describedJson(const Described& described) {
  Json::Value json;
  json["name"] = described.name;
  json["family"] = described.family;
  json["summary"] = described.summary;
  json["promises"] = Json::arrayValue;
  for (const auto& promised : described.promises) {
    Json::Value one;
    one["condition"] = promised.condition;
    one["verdict"] = promised.verdict;
    one["reason"] = promised.reason;
    json["promises"].append(one);
  }
  return json;
}

}  // namespace

Json::Value toJson(const Results& results) {
  Json::Value json;
  json["schema"] = "turnstile-results";
  json["version"] = kResultsVersion;
  json["started_at"] = results.startedAt;
  json["finished_at"] = results.finishedAt;
  json["complete"] = results.complete;
  json["planned_runs"] = results.plannedRuns;
  json["command"] = Json::arrayValue;
  for (const auto& word : results.command) json["command"].append(word);
  json["options"] = optionsJson(results.options);
  json["environment"] = results.environment;
  json["strategies"] = Json::arrayValue;
  for (const auto& described : results.catalogue)
    json["strategies"].append(describedJson(described));
  json["runs"] = Json::arrayValue;
  for (const auto& run : results.runs) json["runs"].append(runJson(run));
  json["summary"] = summaryJson(results.summary());
  return json;
}

std::string toText(const Json::Value& json) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = " ";
  builder["precision"] = 6;
  builder["emitUTF8"] = true;
  return Json::writeString(builder, json) + "\n";
}

}  // namespace turnstile::harness
