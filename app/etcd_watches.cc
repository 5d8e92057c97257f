#include "app/etcd_watches.h"

#include <drogon/HttpRequest.h>
#include <drogon/utils/Utilities.h>
#include <json/json.h>
#include <trantor/utils/Logger.h>

namespace turnstile {
namespace {

constexpr double kLookAgainSeconds = 0.1;  // while there is no connection to tell us

Json::Value parse(const std::string& text) {
  static thread_local const std::unique_ptr<Json::CharReader> reader(
      Json::CharReaderBuilder().newCharReader());
  Json::Value value;
  reader->parse(text.data(), text.data() + text.size(), &value, nullptr);
  return value;
}

std::int64_t revisionIn(const Json::Value& header) {
  return header["revision"].isString() ? std::strtoll(header["revision"].asCString(), nullptr, 10)
                                       : 0;
}

}  // namespace

EtcdWatches::EtcdWatches(const std::string& host, std::uint16_t port)
    : client_(drogon::WebSocketClient::newWebSocketClient(
          "ws://" + host + ":" + std::to_string(port),
          trantor::EventLoop::getEventLoopOfCurrentThread())) {}

// Drogon's client connects again by itself, a second after a failure.
void EtcdWatches::connect() {
  std::weak_ptr<EtcdWatches> weak = weak_from_this();
  client_->setMessageHandler([weak](std::string&& message, const drogon::WebSocketClientPtr&,
                                    const drogon::WebSocketMessageType& type) {
    const auto self = weak.lock();
    if (self && type == drogon::WebSocketMessageType::Text) self->received(message);
  });
  client_->setConnectionClosedHandler([weak](const drogon::WebSocketClientPtr&) {
    if (const auto self = weak.lock()) self->connectionBroke();
  });
  auto request = drogon::HttpRequest::newHttpRequest();
  request->setPath("/v3/watch");
  client_->connectToServer(request, [weak](drogon::ReqResult result, const drogon::HttpResponsePtr&,
                                           const drogon::WebSocketClientPtr&) {
    if (const auto self = weak.lock()) self->up_ = result == drogon::ReqResult::Ok;
  });
}

std::shared_ptr<Watch> EtcdWatches::add(const std::string& key, std::int64_t seenRevision) {
  auto watch = std::make_shared<Watch>();
  if (!up_) {
    client_->getLoop()->runAfter(kLookAgainSeconds, [watch] { watch->fire(false); });
    return watch;
  }
  const std::uint64_t id = ++lastId_;
  watches_.emplace(id, Entry{watch, seenRevision});
  client_->getConnection()->send(
      R"({"create_request":{"key":")" + drogon::utils::base64Encode(key) +
      R"(","filters":["NOPUT"],"watch_id":")" + std::to_string(id) + R"("}})");
  return watch;
}

void EtcdWatches::remove(const std::shared_ptr<Watch>& watch) {
  for (const auto& [id, entry] : watches_)
    if (entry.watch == watch) return forget(id);
}

void EtcdWatches::forget(std::uint64_t id) {
  watches_.erase(id);
  if (up_)
    client_->getConnection()->send(R"({"cancel_request":{"watch_id":")" + std::to_string(id) +
                                   R"("}})");
}

void EtcdWatches::received(const std::string& message) {
  const Json::Value result = parse(message)["result"];
  if (!result["watch_id"].isString()) return;  // not about one of ours: those have a number
  const std::uint64_t id = std::strtoull(result["watch_id"].asCString(), nullptr, 10);
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  const auto watch = found->second.watch;
  const bool deleted = !result["events"].empty();  // puts are filtered out
  if (deleted || result["canceled"].asBool()) {
    forget(id);
    watch->fire(deleted);
  } else if (result["created"].asBool() &&
             revisionIn(result["header"]) > found->second.seenRevision) {
    watch->nudge();
  }
}

void EtcdWatches::connectionBroke() {
  up_ = false;
  decltype(watches_) all;
  all.swap(watches_);
  for (const auto& [id, entry] : all) entry.watch->fire(false);
}

}  // namespace turnstile
