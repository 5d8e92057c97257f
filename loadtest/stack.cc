#include "loadtest/stack.h"

#include <json/reader.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "loadtest/child_process.h"

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;
constexpr int kDefaultInstances = 3;
constexpr int kNothingRuns = 3;  // exit code of `stack status`
constexpr int kDefaultBasePort = 8080;

}  // namespace

fs::path checkoutRoot() {
  const char* given = std::getenv("TURNSTILE_ROOT");
  fs::path root = given && *given
                      ? fs::path(given)
                      : fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  if (!fs::exists(root / "loadtest" / "lock.lua")) {
    throw std::runtime_error(root.string() + " is no Turnstile checkout; set TURNSTILE_ROOT to it");
  }
  return root;
}

Stack::Stack(fs::path root, int basePort, bool keepUp, std::vector<std::string> settings)
    : root_(std::move(root)), basePort_(basePort), keepUp_(keepUp), settings_(std::move(settings)) {}

Stack::~Stack() {
  try {
    leave();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "turnstile: %s\n", e.what());
  }
}

fs::path Stack::runDir() const {
  if (const char* given = std::getenv("TURNSTILE_RUN_DIR"); given && *given) return given;
  return basePort_ == kDefaultBasePort ? root_ / ".run"
                                       : root_ / ".run" / std::to_string(basePort_);
}

Json::Value Stack::description() const {
  Json::Value json;
  std::ifstream file(runDir() / "stack.json");
  std::string problem;
  if (!file || !Json::parseFromStream(Json::CharReaderBuilder(), file, &json, &problem))
    return Json::nullValue;
  return json;
}

// By its processes, not by an answer: a stack that is slow to answer is still the user's stack, and
// must not be ended as ours.
bool Stack::runs() const {
  const Finished status = runToEnd(
      {(root_ / "scripts" / "stack").string(), "status", "--base-port", std::to_string(basePort_)},
      std::chrono::seconds(60));
  return status.exitCode != kNothingRuns;
}

// `up` is called for a running stack too: it replaces instances that run an older build than the
// one to be measured.
void Stack::ensure(std::optional<int> instances) {
  startedByUs_ = !runs();
  if (!startedByUs_) found_ = description()["instances"].asInt();
  up(instances.value_or(found_ > 0 ? found_ : kDefaultInstances));
}

void Stack::setInstances(int instances) {
  if (instances != instances_) up(instances);
}

void Stack::up(int instances) {
  std::vector<std::string> argv{(root_ / "scripts" / "stack").string(), "up", "--no-build", "--base-port",
                                std::to_string(basePort_), "--instances", std::to_string(instances)};
  for (const std::string& setting : settings_) argv.insert(argv.end(), {"--app-env", setting});
  const int code = runInForeground(argv);
  if (code != 0)
    throw std::runtime_error("the stack did not come up (scripts/stack up ended with " +
                             std::to_string(code) + ")");
  instances_ = instances;
}

void Stack::leave() {
  if (startedByUs_ && !keepUp_) {
    startedByUs_ = false;
    runInForeground(
        {(root_ / "scripts" / "stack").string(), "down", "--base-port", std::to_string(basePort_)},
        Interrupts::ignored);
  } else if (found_ > 0 && found_ != instances_) {
    up(found_);
  }
}

Service Stack::service() const {
  std::ifstream file(runDir() / "admin.token");
  std::string token;
  std::getline(file, token);
  return Service(basePort_, token);
}

}  // namespace turnstile::harness
