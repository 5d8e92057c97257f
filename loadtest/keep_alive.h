// Many HTTP/1.1 connections to loopback in one thread, each with at most one request under way, and
// every answer handed over with the moment it was asked for. wrk is faster; this knows *when* each
// request began, which is what it takes to say how long requests waited during one rebuild, or
// whether a read began after a write was acknowledged.
//
//   KeepAlive load(std::vector<int>(256, 8080), [&](const Shot& shot) { …;
//   load.send(shot.connection, text); }); for (int i = 0; i < 256; ++i) load.send(i, text);
//   load.run(until);
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace turnstile::harness {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Shot {
  int connection;
  SteadyTime began, ended;
  int status;             // 0: no answer (refused, broken, or none within the deadline)
  std::string_view body;  // or what went wrong; only valid during the call
};

class KeepAlive {
 public:
  using Answered = std::function<void(const Shot&)>;

  /// Connection i goes to ports[i]. Connects when first used, again when the server closed it.
  KeepAlive(std::vector<int> ports, Answered answered,
            std::chrono::milliseconds deadline = std::chrono::milliseconds{15'000});
  ~KeepAlive();
  KeepAlive(const KeepAlive&) = delete;
  KeepAlive& operator=(const KeepAlive&) = delete;

  /// REQUIRES: nothing is under way on it. May be called from `answered`.
  void send(int connection, std::string_view request);

  /// Until nothing is under way, or `until`. false: something still was.
  bool run(SteadyTime until);

 private:
  struct Connection {
    int port = 0, fd = -1;
    bool busy = false;
    SteadyTime began;
    std::string out, in;
    std::string failure;  // of a send: told in run(), not in the middle of send()
  };
  void connect(Connection& connection, int index);
  void disconnect(Connection& connection);
  void flush(Connection& connection);
  void receive(int index);
  void finish(int index, int status, std::string_view body);
  void tellFailures();

  std::vector<Connection> connections_;
  Answered answered_;
  std::chrono::milliseconds deadline_;
  int epoll_;
  int busy_ = 0;
  SteadyTime nextCheck_;
};

/// The text of a request without a body, or with a JSON one.
std::string requestText(const std::string& method, const std::string& target,
                        const std::string& bearer = {}, const std::string& body = {});

}  // namespace turnstile::harness
