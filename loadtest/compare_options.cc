#include "loadtest/compare_options.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>

namespace turnstile::harness {
namespace {

constexpr long kSellOutSeats = 2000;
constexpr double kMostSalesPerSecond = 200'000;  // no stack on one machine sells faster
constexpr std::chrono::milliseconds kSellOutDeadline{60'000};  // or, for a large stock,
constexpr std::chrono::milliseconds kSellOutASeat{2};          // this much a seat

int numberOf(const std::string& text, int low, int high, const std::string& what) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < low || number > high) {
    throw std::invalid_argument(what + " \"" + text + "\": allowed is a whole number from " +
                                std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

}  // namespace

long CompareOptions::seats() const {
  if (stock) return *stock;
  return sellOut ? kSellOutSeats
                 : std::max(1'000'000L, static_cast<long>(duration * kMostSalesPerSecond));
}

std::chrono::milliseconds CompareOptions::runTime() const {
  if (sellOut) return std::max(kSellOutDeadline, kSellOutASeat * seats());
  return std::chrono::milliseconds(static_cast<long>(duration * 1000));
}

std::vector<Point> CompareOptions::points(int instancesNow) const {
  if (!scan) return {{connections, instancesNow}};
  std::vector<Point> points;
  for (const int value : scan->values) {
    points.push_back(scan->key == "connections" ? Point{value, instancesNow}
                                                : Point{connections, value});
  }
  return points;
}

Scan parseScan(const std::string& text) {
  const auto equals = text.find('=');
  Scan scan{text.substr(0, equals), {}};
  if (equals == std::string::npos || (scan.key != "connections" && scan.key != "instances")) {
    throw std::invalid_argument("--scan \"" + text +
                                "\": allowed are connections=a,b,c and instances=a,b,c");
  }
  for (const auto& value : parseList(text.substr(equals + 1))) {
    scan.values.push_back(
        numberOf(value, 1, scan.key == "connections" ? 4096 : 16, "--scan " + scan.key));
  }
  return scan;
}

std::vector<std::string> parseList(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    part.erase(std::remove(part.begin(), part.end(), ' '), part.end());
    if (part.empty())
      throw std::invalid_argument("\"" + text + "\": an entry of the list is empty");
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  if (parts.empty()) throw std::invalid_argument("the list is empty");
  return parts;
}

void checkStrategies(const std::vector<std::string>& asked, const std::vector<std::string>& known) {
  for (const auto& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string message = "unknown strategy \"" + name + "\"; known are:";
    for (const auto& one : known) message += " " + one;
    throw std::invalid_argument(message);
  }
}

}  // namespace turnstile::harness
