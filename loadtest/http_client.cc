#include "loadtest/http_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace turnstile::harness {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMostAnswer = 64 << 20;

class Socket {
 public:
  Socket() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) throw std::runtime_error(std::strerror(errno));
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void connectTo(int port, Clock::time_point until) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
    if (errno != EINPROGRESS) throw std::runtime_error(std::strerror(errno));
    await(POLLOUT, until);
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) throw std::runtime_error(std::strerror(error));
  }

  void sendAll(const std::string& text, Clock::time_point until) {
    for (std::size_t at = 0; at < text.size();) {
      await(POLLOUT, until);
      const auto sent = ::send(fd_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent > 0) at += static_cast<std::size_t>(sent);
      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        throw std::runtime_error(std::strerror(errno));
    }
  }

  std::string readToEnd(Clock::time_point until) {
    std::string text;
    char buffer[16384];
    while (text.size() < kMostAnswer) {
      await(POLLIN, until);
      const auto got = recv(fd_, buffer, sizeof buffer, 0);
      if (got == 0) return text;
      if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        throw std::runtime_error(std::strerror(errno));
    }
    throw std::runtime_error("answer too long");
  }

 private:
  void await(short event, Clock::time_point until) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) throw std::runtime_error("no answer before the deadline");
      pollfd ready{fd_, event, 0};
      const int n = poll(&ready, 1, static_cast<int>(left));
      if (n > 0) return;
      if (n < 0 && errno != EINTR) throw std::runtime_error(std::strerror(errno));
    }
  }

  int fd_;
};

std::string requestText(const HttpCall& call) {
  std::string text = call.method + " " + call.target +
                     " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(call.port) +
                     "\r\nConnection: close\r\n";
  if (!call.bearer.empty()) text += "Authorization: Bearer " + call.bearer + "\r\n";
  if (!call.body.empty()) text += "Content-Type: application/json\r\n";
  if (!call.body.empty() || call.method != "GET")
    text += "Content-Length: " + std::to_string(call.body.size()) + "\r\n";
  return text + "\r\n" + call.body;
}

std::string joinChunks(const std::string& body) {
  std::string joined;
  for (std::size_t at = 0;;) {
    const auto lineEnd = body.find("\r\n", at);
    if (lineEnd == std::string::npos) throw std::runtime_error("answer cut short");
    const std::size_t size = std::stoul(body.substr(at, lineEnd - at), nullptr, 16);
    if (size == 0) return joined;
    if (lineEnd + 2 + size > body.size()) throw std::runtime_error("answer cut short");
    joined += body.substr(lineEnd + 2, size);
    at = lineEnd + 2 + size + 2;
  }
}

}  // namespace

HttpAnswer parseAnswer(const std::string& raw) {
  const auto headEnd = raw.find("\r\n\r\n");
  if (raw.rfind("HTTP/1.", 0) != 0 || headEnd == std::string::npos || raw.size() < 12) {
    throw std::runtime_error(raw.empty() ? "connection closed without an answer"
                                         : "the answer is not HTTP");
  }
  std::string head = raw.substr(0, headEnd);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  HttpAnswer answer{std::atoi(raw.c_str() + 9), raw.substr(headEnd + 4), head};
  if (head.find("\r\ntransfer-encoding: chunked") != std::string::npos) {
    answer.body = joinChunks(answer.body);
  } else if (const auto at = head.find("\r\ncontent-length:"); at != std::string::npos) {
    const std::size_t length = std::strtoul(head.c_str() + at + 17, nullptr, 10);
    if (answer.body.size() < length) throw std::runtime_error("answer cut short");
    answer.body.resize(length);
  }
  return answer;
}

HttpAnswer send(const HttpCall& call) {
  const auto until = Clock::now() + call.deadline;
  try {
    Socket socket;
    socket.connectTo(call.port, until);
    socket.sendAll(requestText(call), until);
    return parseAnswer(socket.readToEnd(until));
  } catch (const std::exception& e) {
    throw std::runtime_error(call.method + " 127.0.0.1:" + std::to_string(call.port) + call.target +
                             ": " + e.what());
  }
}

}  // namespace turnstile::harness
