#include <drogon/HttpAppFramework.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

// Drogon stops listening only by ending. Another file in the socket's place closes it under its feet: from here on nginx
// is refused, and goes to the next instance with its sale unsent.
void stopListening() {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(file.path().filename());
    int listens = 0;
    socklen_t size = sizeof listens;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0)
      ::dup3(nothing, fd, O_CLOEXEC);
  }
}

// The end: nobody is connected any more, or who still is (nginx keeps connections for later) has bought nothing for fifty
// looks at each event loop in a row, half a second. Taken on the loops themselves: one that had no time to read what was
// sent to it is not quiet.
void leaveWhenQuiet(Service& service, turnstile::TimePoint until, std::size_t looks) {
  const std::size_t loops = drogon::app().getThreadNum();
  drogon::app().getIOLoop(looks % loops)->runAfter(0.01, [&service, until, looks, loops] {
    const std::size_t quiet = service.inFlight == 0 ? looks + 1 : 0;
    const bool alone = quiet > 0 && drogon::app().getConnectionCount() == 0;
    if (alone || quiet == 50 * loops || service.clock().now() > until) leave();
    leaveWhenQuiet(service, until, quiet);
  });
}

// Nobody gets in any more; who is still connected is served once more and sent away (controllers/sale.cc). Whoever is
// still there at the deadline is cut off.
void stopGracefully(Service& service) {
  if (service.draining) return;
  stopListening();
  service.draining = true;
  leaveWhenQuiet(service, service.clock().now() + service.config().requestDeadline, 0);
}

// A signal's handler may meet the process anywhere: what is to be done waits for the main loop.
void stopSoon(Service& service) {
  drogon::app().getLoop()->queueInLoop([&service] { stopGracefully(service); });
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
  app.setTermSignalHandler([&service] { stopSoon(service); });
  app.setIntSignalHandler([&service] { stopSoon(service); });
  app.run();
} catch (const std::invalid_argument& error) {  // a setting that only the composition root can check
  std::cerr << "turnstile-server: " << error.what() << '\n';
  return 64;
}
