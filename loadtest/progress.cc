#include "loadtest/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "loadtest/format.h"
#include "loadtest/plan.h"

namespace turnstile::harness {
namespace {

std::string unit(const Run& run) { return run.strategy == kPing ? " answers/s" : " sales/s"; }

}  // namespace

Progress::Progress(int plannedRuns, int rounds, bool scanning)
    : planned_(plannedRuns),
      rounds_(rounds),
      scanning_(scanning),
      terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::say(const std::string& line) {
  show("");
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Progress::begin(const Run& run) {
  if (done_ == 0) start_ = std::chrono::steady_clock::now();
  current_ = head(run);
  show(current_ + "  " + timeLeft());
}

void Progress::live(double salesPerSecond) {
  show(current_ + "  " + thousands(salesPerSecond) + " sales/s  " + timeLeft());
}

// Rewrites the line. Never longer than the terminal is wide: a wrapped line cannot be rewritten.
void Progress::show(const std::string& line) const {
  if (!terminal_) return;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::fprintf(stderr, "\r\033[K%s", line.substr(0, known ? size.ws_col - 1u : 79u).c_str());
  std::fflush(stderr);
}

void Progress::end(const Run& run, const std::string& promised) {
  ++done_;
  std::string line = current_ + "  " + thousands(run.salesPerSecond()) + unit(run);
  if (run.strategy != kPing) line += std::string("  ") + nameOf(run.judgement.verdict);
  const bool asPromised = run.strategy == kPing || promised == nameOf(run.judgement.verdict);
  if (!asPromised)
    line += " (promised " + promised + ")" +
            (run.judgement.reason.empty() ? "" : ": " + run.judgement.reason);
  if (!terminal_ || !asPromised) say(line);  // on a terminal only surprises stay
}

void Progress::close() { show(""); }

std::string Progress::head(const Run& run) const {
  const std::string total = std::to_string(planned_);
  std::string number = std::to_string(done_ + 1);
  number.insert(0, total.size() - std::min(total.size(), number.size()), ' ');
  return "[" + number + "/" + total + "] " + (scanning_ ? describe(run.point) + "  " : "") +
         "round " + std::to_string(run.round) + "/" + std::to_string(rounds_) + "  " + run.strategy;
}

// From the runs so far; they all last about as long.
std::string Progress::timeLeft() const {
  if (done_ == 0) return "";
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const int left = static_cast<int>(elapsed / done_ * (planned_ - done_));
  char text[32];
  std::snprintf(text, sizeof text, "%d:%02d left", left / 60, left % 60);
  return text;
}

}  // namespace turnstile::harness
