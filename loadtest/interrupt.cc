#include "loadtest/interrupt.h"

#include <signal.h>

namespace turnstile::harness {
namespace {

volatile sig_atomic_t flag = 0;

void remember(int) { flag = 1; }

}  // namespace

void catchInterrupts() {
  struct sigaction action {};
  action.sa_handler = remember;  // without SA_RESTART: a blocked poll returns and looks at the flag
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() { return flag != 0; }

}  // namespace turnstile::harness
