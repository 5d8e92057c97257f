// The harness's command line: one line a subcommand. What each does stands in the header named
// after it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "loadtest/cache.h"
#include "loadtest/compare.h"
#include "loadtest/faults.h"
#include "loadtest/report_command.h"
#include "loadtest/strategies_doc.h"

namespace {

constexpr int kCouldNot = 2;
constexpr int kUsageError = 64;  // as in the scripts: called wrongly, nothing was run

}  // namespace

int main(int argc, char** argv) {
  using namespace turnstile::harness;
  std::vector<std::string> command(argv, argv + argc);
  command[0] = "./turnstile";  // what a reader of the results would type
  int exitCode = 0;
  CLI::App app{"Turnstile's harness: load, audit, compare", "turnstile"};
  app.require_subcommand(1);
  addCompare(app, command, exitCode);
  addFaults(app, command, exitCode);
  addCache(app, command, exitCode);
  addStrategiesDoc(app);
  addReport(app);
  try {
    app.parse(argc, argv);  // and runs what was chosen
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUsageError;
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "turnstile: %s\n", e.what());
    return kUsageError;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "turnstile: %s\n", e.what());
    return kCouldNot;
  }
  return exitCode;
}
