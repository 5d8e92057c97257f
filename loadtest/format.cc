#include "loadtest/format.h"

#include <cmath>
#include <cstdio>

namespace turnstile::harness {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string thousands(double value) {
  std::string text = fixed(std::round(value), 0);
  for (int at = static_cast<int>(text.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

std::string millis(double ms) {
  if (ms >= 100) return thousands(ms);
  return fixed(ms, ms >= 10 ? 1 : 2);
}

std::string percent(double share) {
  if (share <= 0) return "0";
  if (share < 0.01) return "<1%";
  return fixed(share * 100, 0) + "%";
}

std::string plusMinus(const Spread& spread) {
  return spread.rounds > 1 ? "±" + fixed(spread.relative() * 100, 0) + "%" : "-";
}

std::string shares(const std::vector<double>& perInstance) {
  double sum = 0;
  for (const double sold : perInstance) sum += sold;
  if (sum <= 0) return "";
  std::string text;
  for (const double sold : perInstance)
    text += (text.empty() ? "" : "/") + fixed(100 * sold / sum, 0);
  return text + "%";
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string describe(const Ceiling& ceiling) {
  const Spread& rate = ceiling.answersPerSecond;
  if (rate.rounds == 0) return "ceiling (/ping): not measured";
  return "ceiling (/ping): " + thousands(rate.median) + " answers/s" +
         (rate.rounds > 1 ? " " + plusMinus(rate) : "");
}

std::string describe(const Point& point) {
  return std::to_string(point.connections) + " connections, " + std::to_string(point.instances) +
         (point.instances == 1 ? " instance" : " instances");
}

}  // namespace turnstile::harness
