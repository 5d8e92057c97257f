#include "loadtest/progress.h"

#include <unistd.h>

#include <cstdio>

#include "loadtest/format.h"
#include "loadtest/plan.h"

namespace turnstile::harness {
namespace {

std::string unit(const Run& run) { return run.strategy == kPing ? " answers/s" : " sales/s"; }

}  // namespace

Progress::Progress(int plannedRuns, int rounds)
    : planned_(plannedRuns),
      rounds_(rounds),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {}

void Progress::say(const std::string& line) {
  clearLine();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Progress::begin(const Run& run) {
  current_ = head(run);
  if (!terminal_) return;
  clearLine();
  std::fprintf(stderr, "%s  %s", current_.c_str(), timeLeft().c_str());
  std::fflush(stderr);
  lineOpen_ = true;
}

void Progress::live(double salesPerSecond) {
  if (!terminal_) return;
  clearLine();
  std::fprintf(stderr, "%s  %s/s  %s", current_.c_str(), thousands(salesPerSecond).c_str(),
               timeLeft().c_str());
  std::fflush(stderr);
  lineOpen_ = true;
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

void Progress::close() { clearLine(); }

std::string Progress::head(const Run& run) const {
  const std::string total = std::to_string(planned_);
  std::string number = std::to_string(done_ + 1);
  number.insert(0, total.size() - std::min(total.size(), number.size()), ' ');
  return "[" + number + "/" + total + "] " + describe(run.point) + "  round " +
         std::to_string(run.round) + "/" + std::to_string(rounds_) + "  " + run.strategy;
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

void Progress::clearLine() {
  if (lineOpen_) std::fputs("\r\033[K", stderr);
  lineOpen_ = false;
}

}  // namespace turnstile::harness
