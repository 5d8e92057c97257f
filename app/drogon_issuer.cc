#include "app/drogon_issuer.h"

#include <drogon/HttpClient.h>
#include <json/json.h>

#include "app/errors.h"

namespace turnstile {
namespace {

const std::string kName = "token-issuer";

class DrogonIssuer final : public TokenIssuer {
 public:
  DrogonIssuer(const std::string& address, Millis timeout, Clock& clock)
      : url_("http://" + address), timeout_(timeout), clock_(clock) {}

  // A connection a refresh: by design there is one in the life of a token.
  Task<IssuedToken> issue() override {
    const TimePoint asked = clock_.now();
    const auto client =
        drogon::HttpClient::newHttpClient(url_, trantor::EventLoop::getEventLoopOfCurrentThread());
    const auto request = drogon::HttpRequest::newHttpRequest();
    request->setMethod(drogon::Post);
    request->setPath("/issue");
    drogon::HttpResponsePtr response;
    try {
      response = co_await client->sendRequestCoro(request,
                                                  std::chrono::duration<double>(timeout_).count());
    } catch (const drogon::HttpException& error) {
      throw BackendDown(kName, error.what());
    }
    const auto body = response->getJsonObject();
    if (response->statusCode() != drogon::k200OK || !body || !(*body)["token"].isString() ||
        !(*body)["expires_in_ms"].isIntegral())
      throw BackendDown(kName, "did not issue: HTTP " + std::to_string(response->statusCode()));
    IssuedToken issued;
    issued.token = (*body)["token"].asString();
    issued.validFor = Millis{(*body)["expires_in_ms"].asInt64()} -
                      std::chrono::ceil<Millis>(clock_.now() - asked);
    co_return issued;
  }

 private:
  const std::string url_;
  const Millis timeout_;
  Clock& clock_;
};

class NoIssuer final : public TokenIssuer {
 public:
  Task<IssuedToken> issue() override {
    throw BackendDown(kName, "none is configured (setting token-issuer)");
    co_return {};
  }
};

}  // namespace

std::unique_ptr<TokenIssuer> connectIssuer(const Config& config, Clock& clock) {
  if (config.tokenIssuer.empty()) return std::make_unique<NoIssuer>();
  return std::make_unique<DrogonIssuer>(config.tokenIssuer, config.tokenTimeout, clock);
}

}  // namespace turnstile
