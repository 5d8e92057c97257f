#include "locks/try_it.h"

namespace turnstile::tryit {
namespace {

std::string url(int instance, const std::string& path) {
  return "'http://127.0.0.1:" + std::to_string(8080 + instance) + path + "'";
}
std::string asAdmin(const std::string& rest) {
  std::string line = "curl -s -H \"Authorization: Bearer $TOKEN\" ";
  line += rest;
  return line;
}

}  // namespace

std::string reset(int seats) {
  return asAdmin("-X PUT -d '{\"stock\":" + std::to_string(seats) + "}' " + url(0, "/events/demo"));
}
std::string sale(int instance, const std::string& query) {
  return asAdmin("-X POST " + url(instance, "/lock?event=demo&" + query));
}
std::string background(int instance, const std::string& query) {
  return sale(instance, query) + " &";
}
std::string audit() { return "curl -s " + url(0, "/events/demo"); }
std::string redis(const std::string& command) { return "redis-cli -p 8100 " + command; }

}  // namespace turnstile::tryit
