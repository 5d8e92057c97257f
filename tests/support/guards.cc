#include "tests/support/guards.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "loadtest/child_process.h"

namespace turnstile::test {
namespace {

constexpr int kInstances = 3;

void stackUp(const std::vector<std::string>& settings) {
  std::vector<std::string> argv{std::string(std::getenv("TURNSTILE_ROOT")) + "/scripts/stack", "up",
                                "--no-build", "--base-port", std::to_string(portOf("nginx"))};
  for (const std::string& setting : settings) {
    argv.push_back("--app-env");
    argv.push_back(setting);
  }
  const auto done = harness::runToEnd(argv, milliseconds{120'000});
  if (done.exitCode != 0) throw std::runtime_error("stack up: " + done.output);
}

// What /readyz calls it.
std::string backendOf(const std::string& service) { return service == "mariadb" ? "mysql" : service; }

}  // namespace

bool sees(int instance, const std::string& backend) {
  if (instance == 0) {
    for (int i = 1; i <= kInstances; ++i)
      if (!sees(i, backend)) return false;
    return true;
  }
  return bench().sees(instance, backend);
}

BroughtBack::~BroughtBack() {
  for (const std::string& service : services_) {
    try {
      if (!serviceRuns(service)) startService(service);
      if (service.starts_with("app-")) continue;  // no backend of others
      if (!eventually([&] { return sees(0, backendOf(service)); }, milliseconds{20'000}))
        ADD_FAILURE() << "not every instance sees " << service << " again";
    } catch (const std::exception& error) {
      ADD_FAILURE() << service << " was not brought back: " << error.what();
    }
  }
}

InstancesWith::InstancesWith(const std::vector<std::string>& settings) { stackUp(settings); }

InstancesWith::~InstancesWith() {
  try {
    stackUp({"none"});
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
}

long calls(const std::string& service, const std::string& command) {
  const std::string stats = redis(service, {"INFO", "commandstats"}).value_or("");
  const std::string name = "cmdstat_" + command + ":calls=";
  const auto at = stats.find(name);
  return at == std::string::npos ? 0 : std::stol(stats.substr(at + name.size()));
}

std::vector<std::string> buyersInOrder(const std::string& event) {
  std::vector<std::string> buyers;
  std::istringstream lines(
      redis("redis-main", {"LRANGE", "event:{" + event + "}:ledger", "1", "-1"}).value_or(""));
  for (std::string line, count; std::getline(lines, line) && std::getline(lines, count);)
    buyers.push_back(line.substr(line.rfind('|') + 1));
  return buyers;
}

}  // namespace turnstile::test
