#include "locks/lab.h"

#include <signal.h>

#include <charconv>

#include "app/errors.h"

namespace turnstile {
namespace {

constexpr Millis kLongestPause{60'000};

std::string allowed() {
  std::string text = "fault is point:action; points:";
  for (const PointInfo& info : kPoints) text.append(" ").append(info.name);
  text += "; actions:";
  for (const std::string_view name : kActionNames) text.append(" ").append(name);
  return text + " (at most " + std::to_string(kLongestPause.count()) + " ms)";
}

std::optional<Point> parsePoint(std::string_view name) {
  for (const PointInfo& info : kPoints)
    if (info.name == name) return info.point;
  return std::nullopt;
}

std::optional<Action> parseAction(std::string_view name) {
  if (name == "throw") return Action{Action::Kind::raise};
  if (name == "crash") return Action{Action::Kind::crash};
  if (name == "drop") return Action{Action::Kind::drop};
  constexpr std::string_view kPause = "pause-";
  if (!name.starts_with(kPause)) return std::nullopt;
  name.remove_prefix(kPause.size());
  std::int64_t ms = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ms);
  if (error != std::errc{} || end != name.data() + name.size() || ms < 0 ||
      ms > kLongestPause.count())
    return std::nullopt;
  return Action{Action::Kind::pause, Millis{ms}};
}

}  // namespace

std::string_view toString(Point point) {
  for (const PointInfo& info : kPoints)
    if (info.point == point) return info.name;
  return "?";
}

std::vector<Fault> parseFaults(std::string_view text) {
  std::vector<Fault> faults;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto colon = one.find(':');
    const auto point = parsePoint(one.substr(0, colon));
    const auto action =
        colon == std::string_view::npos ? std::nullopt : parseAction(one.substr(colon + 1));
    if (!point || !action)
      throw BadRequest("bad fault '" + std::string(one.substr(0, 80)) + "': " + allowed());
    faults.push_back({*point, *action});
  }
  return faults;
}

Task<> Lab::hold() const {
  if (plan_ && plan_->hold > Millis{0}) co_await clock_->sleep(plan_->hold);
}

Task<> Lab::pass(Point point) const {
  if (!plan_) co_return;
  for (const Fault& fault : plan_->faults) {
    if (fault.point != point) continue;
    const std::string where(toString(point));
    switch (fault.action.kind) {
      case Action::Kind::raise: throw InjectedFault("injected exception at " + where);
      case Action::Kind::drop: throw BackendTimeout("lab", "reply dropped at " + where);
      case Action::Kind::crash: raise(SIGKILL); break;  // no unwinding, no flush: a real crash
      case Action::Kind::pause: co_await clock_->sleep(fault.action.pause); break;
    }
  }
}

}  // namespace turnstile
