// A running stack laid open: HTTP through nginx or to one instance, Redis by hand, single services
// killed, frozen and started again. The fault matrix is staged on it, and so are the tests. Calls
// block, with deadlines, and throw std::runtime_error saying what failed.
#pragma once

#include <json/value.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace turnstile::harness {

struct Answer {
  int status = 0;
  std::string head;  // status line and headers, lower case
  std::string body;
  Json::Value json;  // null when the body is none
  std::string outcome() const { return json["outcome"].asString(); }
  int seat() const { return json["seat"].asInt(); }
};

inline constexpr int kNginx = 0;  // as an instance number

class Bench {
 public:
  using Millis = std::chrono::milliseconds;

  Bench(std::filesystem::path root, int basePort, std::filesystem::path runDir);

  /// Any request. `instance` 0 goes through nginx, 1.. straight to that instance.
  Answer request(const std::string& method, const std::string& target, const std::string& body = {},
                 bool asAdmin = false, int instance = kNginx,
                 Millis deadline = Millis{20'000}) const;
  /// POST /lock with the admin token, so lab parameters work: sell("event=x&strategy=y&hold=9", 2).
  Answer sell(const std::string& query, int instance = kNginx) const;
  /// The same in a thread of its own. Keep the future: its destructor waits.
  std::future<Answer> sellLater(const std::string& query, int instance = kNginx) const;

  int instances() const;           // that were started, dead ones included
  bool ready(int instance) const;  // it answers, and sees every backend
  /// true: this instance says that it sees this backend. Not when it does not answer.
  bool sees(int instance, const std::string& backend) const;
  /// Sum over the living instances of one Prometheus series of a strategy:
  /// "turnstile_lock_lost_total".
  double metric(const std::string& name, const std::string& strategy) const;

  /// "redis-main", "redis-node-3". Text of the reply; nullopt for nil. Throws on an error reply.
  std::optional<std::string> redis(const std::string& service,
                                   const std::vector<std::string>& words) const;

  /// Services by name: "app-2", "redis-main", "mariadb", "zookeeper", "etcd".
  int portOf(const std::string& service) const;
  bool runs(const std::string& service) const;
  void signal(const std::string& service, int number) const;
  void kill(const std::string& service) const;  // SIGKILL, and waits until it is gone
  /// As `up` would, with more settings for it if given ("TURNSTILE_CLOCK_SKEW_MS=1000"); waits
  /// until it answers.
  void start(const std::string& service, const std::vector<std::string>& settings = {}) const;

  const std::filesystem::path& runDir() const { return runDir_; }

 private:
  std::filesystem::path root_;
  int basePort_;
  std::filesystem::path runDir_;
  std::string token_;
};

/// Polls until true. false: the deadline passed.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds within = std::chrono::milliseconds{10'000});

/// Frozen (SIGSTOP) until thawed, at the latest at the end.
class Frozen {
 public:
  Frozen(const Bench& bench, std::string service);
  ~Frozen() { thaw(); }
  void thaw() noexcept;
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  const Bench& bench_;
  std::string service_;
  bool frozen_ = true;
};

}  // namespace turnstile::harness
