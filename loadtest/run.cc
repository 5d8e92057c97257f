#include "loadtest/run.h"

namespace turnstile::harness {

double Latency::at(double percent) const {
  for (const auto& [mark, value] : percentiles) {
    if (mark == percent) return value;
  }
  return 0;
}

double LockFigures::fairness() const {
  double sum = 0, squares = 0;
  for (const double sold : soldPerInstance) {
    sum += sold;
    squares += sold * sold;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(soldPerInstance.size()) * squares) : 0;
}

const char* nameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::safe:
      return "safe";
    case Verdict::oversold:
      return "oversold";
    case Verdict::lost:
      return "lost";
    case Verdict::stuck:
      return "stuck";
    case Verdict::disagree:
      return "disagree";
    case Verdict::unknown:
      return "unknown";
  }
  return "unknown";
}

double Run::salesPerSecond() const {
  if (secondsToEmpty > 0) return static_cast<double>(soldSoFar) / secondsToEmpty;
  return client.seconds > 0 ? static_cast<double>(client.sold) / client.seconds : 0;
}

}  // namespace turnstile::harness
