#include "app/etcd_gateway.h"

#include <drogon/HttpAppFramework.h>
#include <json/json.h>

#include "app/errors.h"
#include "app/etcd_watches.h"

namespace turnstile {

struct EtcdGateway::Connection {
  drogon::HttpClientPtr client;
  int busy = 0;
};

struct EtcdGateway::PerLoop {
  std::vector<std::unique_ptr<Connection>> connections;
  std::shared_ptr<EtcdWatches> watches;
};

struct EtcdGateway::Exchange {
  struct Outcome {
    drogon::ReqResult result = drogon::ReqResult::Ok;
    drogon::HttpResponsePtr response;
  };
  Exchange(drogon::HttpClient& to, const drogon::HttpRequestPtr& what, Millis atMost, Outcome& into)
      : client(to), request(what), timeout(atMost), outcome(into) {}
  drogon::HttpClient& client;
  const drogon::HttpRequestPtr& request;
  Millis timeout;
  Outcome& outcome;

  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    client.sendRequest(
        request,
        [&outcome = outcome, handle](drogon::ReqResult how, const drogon::HttpResponsePtr& answer) {
          outcome.result = how;
          outcome.response = answer;
          handle.resume();
        },
        std::chrono::duration<double>(timeout).count());
  }
  void await_resume() const {}
};

namespace {

constexpr const char* kName = "etcd";
constexpr std::size_t kMostConnections = 16;  // a loop

std::string inBase64(std::string_view bytes) {
  return '"' + drogon::utils::base64Encode(bytes) + '"';
}
std::string inQuotes(std::int64_t number) { return '"' + std::to_string(number) + '"'; }

// Every key that starts with the prefix: up to, not including, the prefix with its last byte
// counted up.
std::string range(std::string_view prefix) {
  std::string end(prefix);
  ++end.back();
  return R"("key":)" + inBase64(prefix) + R"(,"range_end":)" + inBase64(end);
}

// What makes Queue::newest of a range.
constexpr std::string_view kNewestTwo =
    R"(,"sort_target":"CREATE","sort_order":"DESCEND","limit":"2","keys_only":true)";

std::int64_t number(
    const Json::Value& text) {  // the gateway writes 64-bit numbers as strings, 0 as nothing
  return text.isString() ? std::strtoll(text.asCString(), nullptr, 10) : text.asInt64();
}

Etcd::Queue queueOf(const Json::Value& header, const Json::Value& found) {
  Etcd::Queue queue;
  queue.revision = number(header["revision"]);
  for (const Json::Value& one : found["kvs"])
    queue.newest.push_back(
        {drogon::utils::base64Decode(one["key"].asString()), number(one["create_revision"])});
  return queue;
}

std::string messageIn(const drogon::HttpResponse& response) {
  const auto& body = response.getJsonObject();
  const std::string status = "HTTP " + std::to_string(response.statusCode());
  return body && (*body)["error"].isString() ? status + ", " + (*body)["error"].asString() : status;
}

}  // namespace

EtcdGateway::EtcdGateway(Options options) : options_(std::move(options)) {}
EtcdGateway::~EtcdGateway() = default;

void EtcdGateway::start() {
  auto loop = std::make_shared<PerLoop>();
  loops_.setThreadData(loop);
  if (!configured()) return;
  loop->watches = std::make_shared<EtcdWatches>(options_.host, options_.port);
  loop->watches->connect();
}

EtcdGateway::Connection& EtcdGateway::idle(PerLoop& loop) const {
  Connection* best = nullptr;
  for (const auto& one : loop.connections)
    if (!best || one->busy < best->busy) best = one.get();
  if (!best || (best->busy > 0 && loop.connections.size() < kMostConnections))
    best = loop.connections.emplace_back(std::make_unique<Connection>()).get();
  if (!best->client)
    best->client = drogon::HttpClient::newHttpClient(
        "http://" + options_.host + ":" + std::to_string(options_.port),
        trantor::EventLoop::getEventLoopOfCurrentThread());
  return *best;
}

Task<std::optional<Json::Value>> EtcdGateway::post(std::string path, std::string body) {
  if (!configured()) throw BackendDown(kName, "not configured");
  Connection& connection = idle(*loops_.getThreadData());
  const drogon::HttpRequestPtr request = drogon::HttpRequest::newHttpRequest();
  request->setMethod(drogon::Post);
  request->setPath(std::move(path));
  request->setBody(std::move(body));
  const drogon::HttpClientPtr client = connection.client;
  Exchange::Outcome outcome;
  ++connection.busy;
  co_await Exchange(*client, request, options_.callTimeout, outcome);
  --connection.busy;
  if (outcome.result == drogon::ReqResult::BadServerAddress)
    throw BackendDown(kName, "cannot be reached");
  if (outcome.result == drogon::ReqResult::Timeout) {
    // The late answer would hold up whoever uses this connection next.
    if (connection.client == client) connection.client.reset();
    throw BackendTimeout(kName,
                         "no reply within " + std::to_string(options_.callTimeout.count()) + " ms");
  }
  if (outcome.result != drogon::ReqResult::Ok)
    throw BackendTimeout(kName, "connection broke before the reply");
  const auto status = outcome.response->statusCode();
  // Drogon trips over the trailers of an error answer: the next one gets a fresh connection.
  if (status != drogon::k200OK && connection.client == client) connection.client.reset();
  if (status == drogon::k404NotFound) co_return std::nullopt;
  const auto& json = outcome.response->getJsonObject();
  if (status != drogon::k200OK || !json) throw BackendTimeout(kName, messageIn(*outcome.response));
  co_return std::move(*json);
}

Task<Etcd::Granted> EtcdGateway::grant(std::chrono::seconds ttl) {
  const auto reply = co_await post("/v3/lease/grant", R"({"TTL":)" + inQuotes(ttl.count()) + "}");
  if (!reply)
    throw BackendDown(kName, "the gateway has no /v3/lease/grant; it takes etcd 3.4 or newer");
  Granted granted;
  granted.id = number((*reply)["ID"]);
  granted.ttl = std::chrono::seconds{number((*reply)["TTL"])};
  co_return granted;
}

Task<bool> EtcdGateway::keepAlive(Lease lease) {
  const auto reply = co_await post("/v3/lease/keepalive", R"({"ID":)" + inQuotes(lease) + "}");
  co_return reply&& number((*reply)["result"]["TTL"]) > 0;
}

Task<> EtcdGateway::revoke(Lease lease) {
  co_await post("/v3/lease/revoke", R"({"ID":)" + inQuotes(lease) + "}");
}

Task<std::optional<Etcd::Queue>> EtcdGateway::putIfAbsent(std::string key, Lease lease,
                                                          std::string prefix) {
  const std::string name = inBase64(key);
  std::string body = R"({"compare":[{"target":"CREATE","result":"EQUAL","key":)" + name +
                     R"(,"create_revision":"0"}],"success":[{"request_put":{"key":)" + name +
                     R"(,"lease":)" + inQuotes(lease) + R"(}},{"request_range":{)" + range(prefix);
  body.append(kNewestTwo).append("}}]}");
  const auto reply = co_await post("/v3/kv/txn", std::move(body));
  if (!reply || !(*reply)["succeeded"].asBool()) co_return std::nullopt;
  co_return queueOf((*reply)["header"], (*reply)["responses"][1]["response_range"]);
}

Task<Etcd::Queue> EtcdGateway::newest(std::string prefix, std::int64_t upTo) {
  std::string body = "{" + range(prefix) + R"(,"max_create_revision":)" + std::to_string(upTo);
  body.append(kNewestTwo).append("}");
  const auto reply = co_await post("/v3/kv/range", std::move(body));
  if (!reply) co_return Queue{};
  co_return queueOf((*reply)["header"], *reply);
}

Task<bool> EtcdGateway::remove(std::string key) {
  const auto reply = co_await post("/v3/kv/deleterange", R"({"key":)" + inBase64(key) + "}");
  co_return reply&& number((*reply)["deleted"]) > 0;
}

Task<> EtcdGateway::removeAll(std::string prefix) {
  co_await post("/v3/kv/deleterange", "{" + range(prefix) + "}");
}

Task<> EtcdGateway::ping() {
  co_await post("/v3/kv/range", R"({"key":)" + inBase64(std::string_view("turnstile")) + "}");
}

std::shared_ptr<Watch> EtcdGateway::watchDeletion(const std::string& key, std::int64_t revision) {
  return loops_.getThreadData()->watches->add(key, revision);
}

void EtcdGateway::unwatch(const std::shared_ptr<Watch>& watch) {
  loops_.getThreadData()->watches->remove(watch);
}

}  // namespace turnstile
