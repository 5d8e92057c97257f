// Ctrl-C and SIGTERM become a flag that the runner looks at: what was measured is kept, what was
// started is stopped.
#pragma once

namespace turnstile::harness {

void catchInterrupts();
bool interrupted();

}  // namespace turnstile::harness
