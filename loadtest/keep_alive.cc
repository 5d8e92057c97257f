#include "loadtest/keep_alive.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace turnstile::harness {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds kBetweenChecks{20};

struct Parsed {
  int status;
  std::string_view body;
  std::size_t size;  // of the whole answer
  bool closes;
};

std::string_view header(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at)) {
    at += 2;
    if (head.size() - at > name.size() && head[at + name.size()] == ':' &&
        strncasecmp(head.data() + at, name.data(), name.size()) == 0) {
      const std::string_view line =
          head.substr(at + name.size() + 1, head.find("\r\n", at) - at - name.size() - 1);
      return line.substr(std::min(line.find_first_not_of(' '), line.size()));
    }
  }
  return {};
}

// nullopt: not all of it is there yet. Our servers always say the length.
std::optional<Parsed> parse(std::string_view text) {
  const auto headEnd = text.find("\r\n\r\n");
  if (headEnd == std::string_view::npos) return std::nullopt;
  const std::string_view head = text.substr(0, headEnd);
  const std::size_t length =
      std::strtoul(std::string(header(head, "content-length")).c_str(), nullptr, 10);
  if (text.size() < headEnd + 4 + length) return std::nullopt;
  const int status = head.size() > 12 ? std::atoi(head.data() + 9) : 0;
  return Parsed{status, text.substr(headEnd + 4, length), headEnd + 4 + length,
                header(head, "connection").starts_with("close")};
}

}  // namespace

KeepAlive::KeepAlive(std::vector<int> ports, Answered answered, milliseconds deadline)
    : connections_(ports.size()),
      answered_(std::move(answered)),
      deadline_(deadline),
      epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw std::runtime_error(std::strerror(errno));
  for (std::size_t i = 0; i < ports.size(); ++i) connections_[i].port = ports[i];
}

KeepAlive::~KeepAlive() {
  for (Connection& one : connections_) disconnect(one);
  close(epoll_);
}

void KeepAlive::connect(Connection& one, int index) {
  one.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (one.fd < 0) throw std::runtime_error(std::string("socket: ") + std::strerror(errno));
  const int on = 1;
  setsockopt(one.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(one.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(one.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS) {
    one.failure = std::strerror(errno);
    return;
  }
  epoll_event wish{};
  wish.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP;
  wish.data.u32 = static_cast<std::uint32_t>(index);
  epoll_ctl(epoll_, EPOLL_CTL_ADD, one.fd, &wish);
}

void KeepAlive::disconnect(Connection& one) {
  if (one.fd >= 0) close(one.fd);
  one.fd = -1;
  one.in.clear();
}

void KeepAlive::send(int index, std::string_view request) {
  Connection& one = connections_[static_cast<std::size_t>(index)];
  if (one.busy) throw std::logic_error("a request is under way on this connection");
  one.busy = true;
  ++busy_;
  one.began = Clock::now();
  one.out = request;
  one.failure.clear();
  if (one.fd < 0) connect(one, index);
  if (one.failure.empty()) flush(one);
}

void KeepAlive::flush(Connection& one) {
  while (!one.out.empty()) {
    const auto sent = ::send(one.fd, one.out.data(), one.out.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      one.out.erase(0, static_cast<std::size_t>(sent));
    } else {
      // ENOTCONN: the connection is being made; the event that says so calls us again.
      if (errno != EAGAIN && errno != ENOTCONN && errno != EINTR)
        one.failure = std::strerror(errno);
      if (errno != EINTR) return;
    }
  }
}

void KeepAlive::receive(int index) {
  Connection& one = connections_[static_cast<std::size_t>(index)];
  char buffer[16384];
  for (;;) {
    const auto got = recv(one.fd, buffer, sizeof buffer, 0);
    if (got > 0) {
      one.in.append(buffer, static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == ENOTCONN)) break;
    if (!one.busy) return disconnect(one);  // an idle connection, closed by the server
    if (parse(one.in)) break;               // an answer, then closed
    one.failure = got == 0 ? "closed without an answer" : std::strerror(errno);
    return;
  }
  if (!one.busy) return;
  const auto answer = parse(one.in);
  if (!answer) return;
  const std::string text = std::move(one.in);
  one.in.clear();
  const auto moved = parse(text);  // views into the text that stays
  if (moved->closes) disconnect(one);
  finish(index, moved->status, moved->body);
}

void KeepAlive::finish(int index, int status, std::string_view body) {
  Connection& one = connections_[static_cast<std::size_t>(index)];
  one.busy = false;
  --busy_;
  answered_(Shot{index, one.began, Clock::now(), status, body});
}

// Broken connections, and requests past their deadline.
void KeepAlive::tellFailures() {
  const auto now = Clock::now();
  nextCheck_ = now + kBetweenChecks;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& one = connections_[i];
    if (!one.busy) continue;
    if (one.failure.empty() && now - one.began > deadline_)
      one.failure = "no answer before the deadline";
    if (one.failure.empty()) continue;
    const std::string failure = std::move(one.failure);
    one.failure.clear();
    disconnect(one);
    finish(static_cast<int>(i), 0, failure);
  }
}

bool KeepAlive::run(SteadyTime until) {
  std::array<epoll_event, 256> events;
  while (busy_ > 0) {
    const auto now = Clock::now();
    if (now >= until) return false;
    if (now >= nextCheck_) tellFailures();
    const int ready = epoll_wait(epoll_, events.data(), events.size(), 5);
    for (int i = 0; i < ready; ++i) {
      const int index = static_cast<int>(events[static_cast<std::size_t>(i)].data.u32);
      Connection& one = connections_[static_cast<std::size_t>(index)];
      if (one.fd < 0) continue;
      if (one.busy && one.failure.empty()) flush(one);
      if (one.failure.empty()) receive(index);
    }
  }
  return true;
}

std::string requestText(const std::string& method, const std::string& target,
                        const std::string& bearer, const std::string& body) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  if (!bearer.empty()) text += "Authorization: Bearer " + bearer + "\r\n";
  if (!body.empty()) text += "Content-Type: application/json\r\n";
  if (!body.empty() || method != "GET")
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

}  // namespace turnstile::harness
