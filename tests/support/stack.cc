#include "tests/support/stack.h"

#include <gtest/gtest.h>
#include <json/json.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace turnstile::test {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw std::runtime_error(std::string(name) + " is not set: run the tests by ./turnstile test");
  return value;
}

}  // namespace

const harness::Bench& bench() {
  static const harness::Bench stack(environment("TURNSTILE_ROOT"),
                                    std::stoi(environment("TURNSTILE_TEST_BASE_PORT")), runDir());
  return stack;
}

std::string runDir() { return environment("TURNSTILE_RUN_DIR"); }
int portOf(const std::string& service) { return bench().portOf(service); }

Answer request(const std::string& method, const std::string& target, const std::string& body,
               bool asAdmin, int instance, milliseconds deadline) {
  return bench().request(method, target, body, asAdmin, instance, deadline);
}
Answer sell(const std::string& query, int instance) { return bench().sell(query, instance); }
std::future<Answer> sellLater(const std::string& query, int instance) {
  return bench().sellLater(query, instance);
}

Json::Value buyConcurrently(const std::string& query, int buyers, int each) {
  Json::Value counts;
  for (const char* outcome : {"sold", "sold_out", "busy", "unknown", "error"}) counts[outcome] = 0;
  std::mutex mutex;
  const int fleet = bench().instances();
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
  Answer answer;
  eventually([&] {
    answer = request("GET", "/events/" + event + "?seats=1");
    return answer.status != 200 || answer.json["verdict"].asString() != "unknown";
  });
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
  return bench().redis(service, words);
}
void signalService(const std::string& service, int signal) { bench().signal(service, signal); }
bool serviceRuns(const std::string& service) { return bench().runs(service); }
void killService(const std::string& service) { bench().kill(service); }
void startService(const std::string& service) { bench().start(service); }
double metric(const std::string& name, const std::string& strategy) {
  return bench().metric(name, strategy);
}

}  // namespace turnstile::test
