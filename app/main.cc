#include <drogon/HttpAppFramework.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/config.h"
#include "app/service.h"
#include "controllers/routes.h"

namespace {

using turnstile::Service;

// Not by Drogon's quit(): it takes its clients down while its loops still run them, which now and then ends in a crash
// (AddressSanitizer saw it). There is nothing to take down: every answer is out, the kernel closes the rest.
[[noreturn]] void leave() {
  std::fflush(nullptr);  // the log
  std::_Exit(0);
}

// New sales are refused, those under way finish; whoever is still there at the deadline is cut off. Seen twice: the last
// answer may be a moment behind the last sale.
void stopGracefully(Service& service) {
  if (service.draining.exchange(true)) return;
  const auto until = service.clock().now() + service.config().requestDeadline;
  drogon::app().getLoop()->runEvery(0.01, [&service, until, quiet = 0]() mutable {
    quiet = service.inFlight == 0 ? quiet + 1 : 0;
    if (quiet == 2 || service.clock().now() > until) leave();
  });
}

void startOnEveryLoop(Service& service) {
  for (std::size_t i = 0; i < drogon::app().getThreadNum(); ++i)
    drogon::app().getIOLoop(i)->queueInLoop([&service] { service.startOnLoop(); });
  drogon::app().getIOLoop(0)->queueInLoop([&service] { service.startStrategies(); });
}

}  // namespace

int main(int argc, char** argv) try {
  const turnstile::Config config = turnstile::loadConfig(argc, argv);
  std::cout << describe(config) << std::flush;

  auto& app = drogon::app();
  app.setLogLevel(trantor::Logger::kWarn)
      .setThreadNum(config.threads)
      .addListener(config.listen, config.port)
      .enableServerHeader(false)
      .enableDateHeader(false)
      .setIdleConnectionTimeout(75)
      .setClientMaxBodySize(std::size_t{64} * 1024);

  Service service(config);
  routeSale(service);
  routeEvents(service);
  routeCatalogue(service);
  routeCache(service);
  routeToken(service);
  routeProducts(service);
  routeHealth(service);

  app.registerBeginningAdvice([&service] { startOnEveryLoop(service); });
  app.setTermSignalHandler([&service] { stopGracefully(service); });
  app.setIntSignalHandler([&service] { stopGracefully(service); });
  app.run();
} catch (const std::invalid_argument& error) {  // a setting that only the composition root can check
  std::cerr << "turnstile-server: " << error.what() << '\n';
  return 64;
}
