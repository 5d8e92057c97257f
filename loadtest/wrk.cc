#include "loadtest/wrk.h"

#include <signal.h>

#include <algorithm>
#include <stdexcept>

#include "loadtest/child_process.h"
#include "loadtest/plan.h"
#include "loadtest/wrk_output.h"

namespace turnstile::harness {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kTimeToReport{5000};

}  // namespace

std::vector<std::string> argvOf(const WrkOrder& order) {
  const int threads = std::min(order.threads, order.connections);
  const auto seconds = duration_cast<std::chrono::seconds>(order.duration).count() +
                       10;  // only a net below the SIGINT
  std::vector<std::string> argv{"wrk",
                                "-t" + std::to_string(threads),
                                "-c" + std::to_string(order.connections),
                                "-d" + std::to_string(seconds) + "s",
                                "--timeout",
                                "30s",  // the service's own deadline answers first
                                "-s",
                                order.script.string(),
                                order.url,
                                "--",
                                order.strategy};
  if (order.strategy == kPing) return argv;
  argv.push_back(order.event);
  if (!order.stockKind.empty()) argv.push_back("stock=" + order.stockKind);
  if (order.collectSeats) argv.push_back("seats=on");
  return argv;
}

ClientCount runWrk(const WrkOrder& order, const WhileRunning& tick) {
  ChildProcess wrk(argvOf(order));
  const auto start = Clock::now();
  const auto elapsed = [&] { return duration_cast<milliseconds>(Clock::now() - start); };
  while (elapsed() < order.duration) {
    if (wrk.pump(std::min(order.tick, std::max(milliseconds{1}, order.duration - elapsed()))))
      break;
    if (tick && tick(elapsed())) break;
  }
  wrk.signal(SIGINT);
  const auto killAt = elapsed() + kTimeToReport;
  while (!wrk.pump(milliseconds{50})) {
    if (elapsed() > killAt) {
      wrk.signal(SIGKILL);
      wrk.pump(milliseconds{1000});
      throw std::runtime_error("wrk did not stop within 5 s and was killed");
    }
  }
  ClientCount count = parseWrkOutput(wrk.output());
  count.connections = order.connections;
  return count;
}

}  // namespace turnstile::harness
