// turnstile-issuer: a token issuer to run beside the stack, with the one rule that makes /token
// worth a scenario: a new token kills the one before it. It counts what it issued and how many dead
// tokens it was shown, so the answer to "did anyone use a dead token?" is not the service's own.
//
//   POST /issue          {"token","expires_in_ms"}; every older token is dead from now on
//   GET  /use?token=…    200 while it lives, 401 once it is dead
//   GET  /stats          {"issued","used","refused"}
#include <drogon/HttpAppFramework.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

namespace {

using drogon::HttpRequestPtr;
using drogon::HttpResponsePtr;
using Callback = std::function<void(const HttpResponsePtr&)>;
using Clock = std::chrono::steady_clock;

// One event loop, so no lock.
struct Issuer {
  int ttlMs = 60'000;
  int issueMs = 20;
  std::string current;
  Clock::time_point expires;
  long issued = 0, used = 0, refused = 0;
};

HttpResponsePtr json(drogon::HttpStatusCode status, std::string body) {
  auto response = drogon::HttpResponse::newHttpResponse(status, drogon::CT_APPLICATION_JSON);
  response->setBody(std::move(body));
  return response;
}

HttpResponsePtr issue(Issuer& issuer) {
  issuer.current = drogon::utils::getUuid();
  issuer.expires = Clock::now() + std::chrono::milliseconds{issuer.ttlMs};
  ++issuer.issued;
  return json(drogon::k200OK, R"({"token":")" + issuer.current + R"(","expires_in_ms":)" +
                                  std::to_string(issuer.ttlMs) + "}");
}

HttpResponsePtr use(Issuer& issuer, const std::string& token) {
  if (!token.empty() && token == issuer.current && Clock::now() < issuer.expires) {
    ++issuer.used;
    return json(drogon::k200OK, R"({"used":true})");
  }
  ++issuer.refused;
  return json(drogon::k401Unauthorized,
              R"({"error":"this token is dead: a newer one was issued, or it expired"})");
}

void route(Issuer& issuer) {
  drogon::app()
      .registerHandler(
          "/issue",
          [&issuer](const HttpRequestPtr&, Callback&& callback) {
            auto* loop = trantor::EventLoop::getEventLoopOfCurrentThread();
            loop->runAfter(issuer.issueMs / 1000.0,
                           [&issuer, callback = std::move(callback)] { callback(issue(issuer)); });
          },
          {drogon::Post})
      .registerHandler("/use",
                       [&issuer](const HttpRequestPtr& request, Callback&& callback) {
                         callback(use(issuer, request->getParameter("token")));
                       },
                       {drogon::Get})
      .registerHandler(
          "/stats",
          [&issuer](const HttpRequestPtr&, Callback&& callback) {
            callback(json(drogon::k200OK, R"({"issued":)" + std::to_string(issuer.issued) +
                                              R"(,"used":)" + std::to_string(issuer.used) +
                                              R"(,"refused":)" + std::to_string(issuer.refused) +
                                              "}"));
          },
          {drogon::Get});
}

}  // namespace

int main(int argc, char** argv) {
  Issuer issuer;
  std::string listen = "127.0.0.1";
  std::uint16_t port = 8120;
  CLI::App cli{"Issues access tokens; a new one kills the one before it", "turnstile-issuer"};
  cli.add_option("--listen", listen, "address to listen on")->capture_default_str();
  cli.add_option("--port", port, "port to listen on")->capture_default_str();
  cli.add_option("--token-ttl-ms", issuer.ttlMs, "life of a token")
      ->check(CLI::Range(1, 86'400'000))
      ->capture_default_str();
  cli.add_option("--issue-ms", issuer.issueMs, "how long issuing takes")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  CLI11_PARSE(cli, argc, argv);

  route(issuer);
  drogon::app()
      .setLogLevel(trantor::Logger::kWarn)
      .setThreadNum(1)
      .enableServerHeader(false)
      .addListener(listen, port)
      .run();
}
