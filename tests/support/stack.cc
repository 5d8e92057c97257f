#include "tests/support/stack.h"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <json/json.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "loadtest/child_process.h"
#include "loadtest/http_client.h"

namespace turnstile::test {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string(name) + " is not set: run the tests by ./turnstile test");
  return value;
}

int basePort() {
  static const int port = std::stoi(environment("TURNSTILE_TEST_BASE_PORT"));
  return port;
}

std::string readWord(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  if (!(in >> word)) throw std::runtime_error("cannot read " + path);
  return word;
}

const std::string& token() {
  static const std::string value = readWord(runDir() + "/admin.token");
  return value;
}

Json::Value parseJson(const std::string& text) {
  Json::Value value;
  std::string errors;
  std::istringstream in(text);
  return Json::parseFromStream(Json::CharReaderBuilder(), in, &value, &errors) ? value : Json::Value();
}

void stackCommand(const std::string& verb, const std::string& service) {
  const auto done = harness::runToEnd({environment("TURNSTILE_ROOT") + "/scripts/stack", verb, service,
                                       "--base-port", std::to_string(basePort())},
                                      milliseconds{60'000});
  if (done.exitCode != 0) throw std::runtime_error("stack " + verb + " " + service + ": " + done.output);
}

int instances() {
  int count = 0;
  while (std::ifstream(runDir() + "/pids/app-" + std::to_string(count + 1) + ".pid")) ++count;
  return count;
}

std::optional<std::string> toText(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_NIL: return std::nullopt;
    case REDIS_REPLY_INTEGER: return std::to_string(reply.integer);
    case REDIS_REPLY_ERROR: throw std::runtime_error(std::string(reply.str, reply.len));
    case REDIS_REPLY_ARRAY: {
      std::string lines;
      for (std::size_t i = 0; i < reply.elements; ++i)
        lines += toText(*reply.element[i]).value_or("(nil)") + "\n";
      return lines;
    }
    default: return std::string(reply.str, reply.len);
  }
}

}  // namespace

std::string runDir() { return environment("TURNSTILE_RUN_DIR"); }

int portOf(const std::string& service) {
  static const std::map<std::string, int> offsets{{"redis-main", 20}, {"redis-replica", 21},
                                                  {"mariadb", 30},    {"zookeeper", 31},
                                                  {"etcd", 32},       {"nginx", 0},
                                                  {"issuer", 40}};
  if (const auto found = offsets.find(service); found != offsets.end()) return basePort() + found->second;
  const int number = std::stoi(service.substr(service.rfind('-') + 1));
  return basePort() + (service.starts_with("app-") ? number : 21 + number);
}

Answer request(const std::string& method, const std::string& target, const std::string& body,
               bool asAdmin, int instance, milliseconds deadline) {
  const harness::HttpAnswer got = harness::send({.port = basePort() + instance,
                                                 .method = method,
                                                 .target = target,
                                                 .bearer = asAdmin ? token() : std::string(),
                                                 .body = body,
                                                 .deadline = deadline});
  return {got.status, got.head, got.body, parseJson(got.body)};
}

Answer sell(const std::string& query, int instance) {
  return request("POST", "/lock?" + query, {}, true, instance);
}

std::future<Answer> sellLater(const std::string& query, int instance) {
  return std::async(std::launch::async, [=] { return sell(query, instance); });
}

Json::Value buyConcurrently(const std::string& query, int buyers, int each) {
  Json::Value counts;
  for (const char* outcome : {"sold", "sold_out", "busy", "unknown", "error"}) counts[outcome] = 0;
  std::mutex mutex;
  const int fleet = instances();
  const auto buy = [&](int buyer) {
    for (int i = 0; i < each; ++i) {
      std::string outcome = "error";
      try {
        const std::string user = "&user=u" + std::to_string(buyer);
        const Answer answer = request("POST", "/lock?" + query + user, {}, true, 1 + buyer % fleet);
        if (answer.json.isMember("outcome")) outcome = answer.outcome();
      } catch (const std::exception&) {
        // counted as an error
      }
      const std::lock_guard guard(mutex);
      counts[outcome] = counts[outcome].asInt() + 1;
      if (outcome == "sold_out") return;
    }
  };
  std::vector<std::thread> threads;
  for (int buyer = 0; buyer < buyers; ++buyer) threads.emplace_back(buy, buyer);
  for (std::thread& thread : threads) thread.join();
  return counts;
}

Json::Value audit(const std::string& event) {
  const Answer answer = request("GET", "/events/" + event + "?seats=1");
  if (answer.status != 200) throw std::runtime_error("audit of " + event + ": " + answer.body);
  return answer.json;
}

void resetEvent(const std::string& event, int seats) {
  const Answer answer =
      request("PUT", "/events/" + event, "{\"stock\":" + std::to_string(seats) + "}", true);
  if (answer.status != 200) throw std::runtime_error("PUT /events/" + event + ": " + answer.body);
}

std::string freshEvent(int seats) {
  static std::atomic<int> count{0};
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string event = std::string(info->name()).substr(0, 40);
  for (char& c : event)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '-';
  event += "-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  resetEvent(event, seats);
  return event;
}

std::optional<std::string> redis(const std::string& service, const std::vector<std::string>& words) {
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
  void* raw = redisCommandArgv(context.get(), static_cast<int>(words.size()), data.data(), sizes.data());
  if (!raw) throw std::runtime_error(service + ": " + context->errstr);
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(static_cast<redisReply*>(raw),
                                                                freeReplyObject);
  return toText(*reply);
}

void signalService(const std::string& service, int signal) {
  const int pid = std::stoi(readWord(runDir() + "/pids/" + service + ".pid"));
  if (kill(pid, signal) != 0) throw std::runtime_error("cannot signal " + service);
}

bool serviceRuns(const std::string& service) {
  try {
    // A killed child of a subshell can linger as a zombie: that is not running.
    const std::string pid = readWord(runDir() + "/pids/" + service + ".pid");
    std::ifstream in("/proc/" + pid + "/stat");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto state = text.rfind(')');
    return state != std::string::npos && text[state + 2] != 'Z';
  } catch (const std::exception&) {
    return false;
  }
}

void killService(const std::string& service) {
  signalService(service, SIGKILL);
  if (!eventually([&] { return !serviceRuns(service); }))
    throw std::runtime_error(service + " survived SIGKILL");
}

void startService(const std::string& service) { stackCommand("start", service); }

bool eventually(const std::function<bool()>& condition, milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds{20});
  }
  return true;
}

double metric(const std::string& name, const std::string& strategy) {
  double sum = 0;
  for (int instance = 1; instance <= instances(); ++instance) {
    std::istringstream lines(request("GET", "/metrics", {}, false, instance).body);
    const std::string series = name + "{strategy=\"" + strategy + "\"";
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with(series)) sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

}  // namespace turnstile::test
