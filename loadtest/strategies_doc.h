// `turnstile-harness strategies-doc > docs/strategies.md`: the page on every strategy, from the
// catalogue and from nothing else, so that it cannot say more than the code does. A unit test holds
// the committed page to it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace turnstile::harness {

std::string strategiesDoc();
void addStrategiesDoc(CLI::App& app);

}  // namespace turnstile::harness
