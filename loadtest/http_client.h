// One HTTP/1.1 request to a server on loopback, blocking, with a deadline. For the harness's own
// calls (reset, audit, metrics): a handful a second, so a connection each is fine.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace turnstile::harness {

struct HttpAnswer {
  int status = 0;
  std::string body;
  std::string head = {};  // status line and headers, lower case
};

struct HttpCall {
  int port;
  std::string method = "GET";
  std::string target = "/";
  std::string bearer = {};  // sent as Authorization when not empty
  std::string body = {};    // sent as JSON when not empty
  std::chrono::milliseconds deadline{5000};
};

// Throws std::runtime_error naming call and cause: refused, deadline passed, not HTTP.
HttpAnswer send(const HttpCall& call);

// The part after the socket, alone so that it can be tested: status line, headers, body by length,
// by chunks or to the end.
HttpAnswer parseAnswer(const std::string& raw);

}  // namespace turnstile::harness
