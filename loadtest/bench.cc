#include "loadtest/bench.h"

#include <hiredis/hiredis.h>
#include <json/reader.h>
#include <signal.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "loadtest/child_process.h"
#include "loadtest/http_client.h"

namespace turnstile::harness {
namespace {

std::string wordIn(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string word;
  if (!(in >> word)) throw std::runtime_error("cannot read " + path.string());
  return word;
}

Json::Value jsonOrNull(const std::string& text) {
  Json::Value value;
  std::string errors;
  std::istringstream in(text);
  return Json::parseFromStream(Json::CharReaderBuilder(), in, &value, &errors) ? value
                                                                               : Json::Value();
}

std::optional<std::string> replyText(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL:
      return std::nullopt;
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_ERROR:
      throw std::runtime_error(std::string(reply.str, reply.len));
    case REDIS_REPLY_ARRAY: {
      std::string lines;
      for (std::size_t i = 0; i < reply.elements; ++i)
        lines += replyText(*reply.element[i]).value_or("(nil)") + "\n";
      return lines;
    }
    default:
      return std::string(reply.str, reply.len);
  }
}

}  // namespace

Bench::Bench(std::filesystem::path root, int basePort, std::filesystem::path runDir)
    : root_(std::move(root)),
      basePort_(basePort),
      runDir_(std::move(runDir)),
      token_(wordIn(runDir_ / "admin.token")) {}

Answer Bench::request(const std::string& method, const std::string& target, const std::string& body,
                      bool asAdmin, int instance, Millis deadline) const {
  const HttpAnswer got = send({.port = basePort_ + instance,
                               .method = method,
                               .target = target,
                               .bearer = asAdmin ? token_ : std::string(),
                               .body = body,
                               .deadline = deadline});
  return {got.status, got.head, got.body, jsonOrNull(got.body)};
}

Answer Bench::sell(const std::string& query, int instance) const {
  return request("POST", "/lock?" + query, {}, true, instance);
}

std::future<Answer> Bench::sellLater(const std::string& query, int instance) const {
  return std::async(std::launch::async, [this, query, instance] { return sell(query, instance); });
}

int Bench::instances() const {
  int count = 0;
  while (std::filesystem::exists(runDir_ / "pids" / ("app-" + std::to_string(count + 1) + ".pid")))
    ++count;
  return count;
}

bool Bench::ready(int instance) const try {
  return request("GET", "/readyz", {}, false, instance).status == 200;
} catch (const std::exception&) {
  return false;
}

bool Bench::sees(int instance, const std::string& backend) const try {
  const Answer answer = request("GET", "/readyz", {}, false, instance);
  return answer.json["backends"][backend].asString() == "up";
} catch (const std::exception&) {
  return false;
}

double Bench::metric(const std::string& name, const std::string& strategy) const {
  const std::string series = name + "{strategy=\"" + strategy + "\"";
  double sum = 0;
  for (int instance = 1; instance <= instances(); ++instance) {
    if (!runs("app-" + std::to_string(instance))) continue;
    std::istringstream lines(request("GET", "/metrics", {}, false, instance).body);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(series)) sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

std::optional<std::string> Bench::redis(const std::string& service,
                                        const std::vector<std::string>& words) const {
  const timeval timeout{2, 0};
  std::unique_ptr<redisContext, decltype(&redisFree)> context(
      redisConnectWithTimeout("127.0.0.1", portOf(service), timeout), redisFree);
  if (!context || context->err) throw std::runtime_error(service + " cannot be reached");
  redisSetTimeout(context.get(), timeout);
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    data.push_back(word.data());
    sizes.push_back(word.size());
  }
  void* raw =
      redisCommandArgv(context.get(), static_cast<int>(words.size()), data.data(), sizes.data());
  if (!raw) throw std::runtime_error(service + ": " + context->errstr);
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(static_cast<redisReply*>(raw),
                                                                freeReplyObject);
  return replyText(*reply);
}

int Bench::portOf(const std::string& service) const {
  static const std::map<std::string, int> offsets{
      {"redis-main", 20}, {"redis-replica", 21}, {"mariadb", 30}, {"zookeeper", 31},
      {"etcd", 32},       {"nginx", 0},          {"issuer", 40}};
  if (const auto found = offsets.find(service); found != offsets.end())
    return basePort_ + found->second;
  const int number = std::stoi(service.substr(service.rfind('-') + 1));
  return basePort_ + (service.starts_with("app-") ? number : 21 + number);
}

bool Bench::runs(const std::string& service) const try {
  // A killed child of a subshell can linger as a zombie: that is not running.
  std::ifstream in("/proc/" + wordIn(runDir_ / "pids" / (service + ".pid")) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto state = text.rfind(')');
  return state != std::string::npos && text[state + 2] != 'Z';
} catch (const std::exception&) {
  return false;
}

void Bench::signal(const std::string& service, int number) const {
  const int pid = std::stoi(wordIn(runDir_ / "pids" / (service + ".pid")));
  if (::kill(pid, number) != 0) throw std::runtime_error("cannot signal " + service);
}

void Bench::kill(const std::string& service) const {
  signal(service, SIGKILL);
  if (!eventually([&] { return !runs(service); }))
    throw std::runtime_error(service + " survived SIGKILL");
}

void Bench::start(const std::string& service, const std::vector<std::string>& settings) const {
  std::vector<std::string> argv{"env"};
  argv.insert(argv.end(), settings.begin(), settings.end());
  for (const std::string& word : {(root_ / "scripts" / "stack").string(), std::string("start"),
                                  service, std::string("--base-port"), std::to_string(basePort_)})
    argv.push_back(word);
  const auto done = runToEnd(argv, Millis{60'000});
  if (done.exitCode != 0) throw std::runtime_error("stack start " + service + ": " + done.output);
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  return true;
}

Frozen::Frozen(const Bench& bench, std::string service)
    : bench_(bench), service_(std::move(service)) {
  bench_.signal(service_, SIGSTOP);
}

void Frozen::thaw() noexcept try {
  if (std::exchange(frozen_, false)) bench_.signal(service_, SIGCONT);
} catch (const std::exception&) {
  // it died meanwhile: nothing to thaw
}

}  // namespace turnstile::harness
