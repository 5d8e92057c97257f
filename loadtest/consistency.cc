#include "loadtest/consistency.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <stdexcept>

#include "loadtest/http_client.h"
#include "loadtest/interrupt.h"
#include "loadtest/keep_alive.h"

namespace turnstile::harness {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLongest{240};

// "version": 7 or "version":7, wherever it stands. 0: there is none.
long versionIn(std::string_view body) {
  constexpr std::string_view kName = "\"version\":";
  const auto at = body.find(kName);
  if (at == std::string_view::npos) return 0;
  return std::atol(std::string(body.substr(at + kName.size(), 20)).c_str());
}

class Checker {
 public:
  explicit Checker(const ConsistencyOrder& order)
      : order_(order),
        random_(order.seed),
        acknowledged_(static_cast<std::size_t>(order.products), 0),
        underWay_(static_cast<std::size_t>(order.connections)),
        clients_(ports(order), [this](const Shot& shot) { hear(shot); }) {
    figures_.policy = order.policy;
    for (int product = 0; product < order.products; ++product) {
      reads_.push_back(requestText("GET", target(product)));
      pausedReads_.push_back(requestText(
          "GET", target(product) + "&fault=before-fill:pause-" + std::to_string(order.pauseMs),
          order.adminToken));
      writes_.push_back(
          requestText("PUT", target(product), order.adminToken, R"({"name":"checked","price":1})"));
    }
  }

  ConsistencyFigures run() {
    for (int product = 0; product < order_.products; ++product) create(product);
    for (int i = 0; i < order_.connections; ++i) next(i);
    if (!clients_.run(Clock::now() + kLongest))
      throw std::runtime_error("policy " + order_.policy + ": the operations did not end in time");
    return figures_;
  }

 private:
  struct UnderWay {
    bool writes = false;
    int product = 0;
    long acknowledged = 0;  // the newest version a write was acknowledged with before this began
  };

  static std::vector<int> ports(const ConsistencyOrder& order) {
    std::vector<int> all;
    for (int i = 0; i < order.connections; ++i)
      all.push_back(order.basePort + 1 + i % order.instances);
    return all;
  }

  std::string target(int product) const {
    return "/products/check-" + std::to_string(getpid()) + "-" + std::to_string(product) +
           "?policy=" + order_.policy;
  }

  void create(int product) {
    const HttpAnswer answer = send({.port = order_.basePort + 1,
                                    .method = "PUT",
                                    .target = target(product),
                                    .bearer = order_.adminToken,
                                    .body = R"({"name":"checked","price":1})"});
    if (answer.status != 200)
      throw std::runtime_error("PUT " + target(product) + ": " + answer.body.substr(0, 300));
    acknowledged_[static_cast<std::size_t>(product)] = versionIn(answer.body);
  }

  double draw() { return std::uniform_real_distribution<>(0, 1)(random_); }

  void next(int connection) {
    if (begun_ >= order_.operations || interrupted()) return;
    ++begun_;
    UnderWay& mine = underWay_[static_cast<std::size_t>(connection)];
    mine.product = std::uniform_int_distribution<>(0, order_.products - 1)(random_);
    mine.writes = draw() < order_.writeShare;
    const auto product = static_cast<std::size_t>(mine.product);
    mine.acknowledged = acknowledged_[product];
    const bool paused = !mine.writes && draw() < order_.pausedShare;
    clients_.send(connection, mine.writes ? writes_[product]
                              : paused    ? pausedReads_[product]
                                          : reads_[product]);
  }

  void hear(const Shot& shot) {
    const UnderWay& mine = underWay_[static_cast<std::size_t>(shot.connection)];
    const long version = versionIn(shot.body);
    if (shot.status == 503) {
      ++figures_.busy;
    } else if (shot.status != 200 || version == 0) {
      ++figures_.errors;
      if (figures_.firstError.empty())
        figures_.firstError =
            std::to_string(shot.status) + " " + std::string(shot.body.substr(0, 200));
    } else if (mine.writes) {
      ++figures_.writes;
      long& newest = acknowledged_[static_cast<std::size_t>(mine.product)];
      newest = std::max(newest, version);
    } else {
      ++figures_.reads;
      if (version < mine.acknowledged) ++figures_.staleReads;
      figures_.mostVersionsBehind =
          std::max(figures_.mostVersionsBehind, mine.acknowledged - version);
    }
    next(shot.connection);
  }

  const ConsistencyOrder& order_;
  std::mt19937_64 random_;
  std::vector<std::string> reads_, pausedReads_, writes_;  // formatted once, by product
  std::vector<long> acknowledged_;                         // by product
  std::vector<UnderWay> underWay_;                         // by connection
  ConsistencyFigures figures_;
  long begun_ = 0;
  KeepAlive clients_;
};

}  // namespace

ConsistencyFigures checkConsistency(const ConsistencyOrder& order) { return Checker(order).run(); }

Json::Value toJson(const ConsistencyFigures& figures) {
  Json::Value out;
  out["policy"] = figures.policy;
  out["reads"] = Json::Int64(figures.reads);
  out["writes"] = Json::Int64(figures.writes);
  out["stale_reads"] = Json::Int64(figures.staleReads);
  out["most_versions_behind"] = Json::Int64(figures.mostVersionsBehind);
  out["busy"] = Json::Int64(figures.busy);
  out["errors"] = Json::Int64(figures.errors);
  out["first_error"] = figures.firstError;
  return out;
}

}  // namespace turnstile::harness
