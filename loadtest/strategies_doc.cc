#include "loadtest/strategies_doc.h"

#include <algorithm>
#include <iostream>

#include "loadtest/catalogue.h"

namespace turnstile::harness {
namespace {

constexpr const char* kOpening = R"(# Strategies

Generated from the catalogue by `build/turnstile-harness strategies-doc > docs/strategies.md`: change a strategy's
file in `locks/`, not this page.

Every strategy sells one ticket. What it promises is a verdict by the ledger, for each condition: `safe`, `oversold`
(a seat sold twice, or more than there were), `lost` (stock gone without a sale), `stuck` (nobody can buy any more).
A flaw that is promised is there on purpose, and a test shows it.

The lines under "Try it" go into a shell in the checkout, after:

```sh
./turnstile up
TOKEN=$(cat .run/admin.token)
```

nginx answers on port 8080, the instances on 8081, 8082 and 8083, the main Redis on 8100. `hold`, `fault`, `ttl`,
`wait`, `nested` and `fencing` are the lab's: they need the token.
)";

using Families = std::vector<std::string>;

// In the order of the story, each once.
Families familiesOf(const std::vector<Described>& all) {
  Families families;
  for (const Described& one : all)
    if (std::find(families.begin(), families.end(), one.family) == families.end())
      families.push_back(one.family);
  return families;
}

std::string quotedList(const std::vector<std::string>& words, const std::string& quote) {
  std::string text;
  for (const std::string& word : words)
    text.append(text.empty() ? "" : ", ").append(quote).append(word).append(quote);
  return text;
}

// A table's cell: the catalogue's text may hold the character that ends one.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) (c == '|' ? safe.append("\\|") : safe.append(1, c));
  return safe;
}

std::string contention(const Described& strategy) {
  std::string text;
  for (const Promised& promise : strategy.promises) {
    if (promise.condition == "contention") text.insert(0, promise.verdict);
    if (promise.condition == "one-instance") text += " (one instance: " + promise.verdict + ")";
  }
  return text;
}

std::string overview(const std::string& family, const std::vector<Described>& all) {
  std::string text = "\n### " + family +
                     "\n\n| strategy | one line | stock | contention | reentrant | fenced |\n"
                     "|---|---|---|---|---|---|\n";
  for (const Described& one : all) {
    if (one.family != family) continue;
    const std::string stock = one.stocks.empty() ? "its own" : quotedList(one.stocks, "");
    text += "| [`" + one.name + "`](#" + one.name + ") | " + cell(one.summary) + " | " + stock +
            " | " + contention(one) + " | " + (one.reentrant ? "yes" : "no") + " | " +
            (one.fenced ? "yes" : "no") + " |\n";
  }
  return text;
}

std::string section(const Described& strategy) {
  std::string text = "\n### " + strategy.name + "\n\n" + strategy.summary + ".\n";
  text += "\n| condition | verdict | because |\n|---|---|---|\n";
  for (const Promised& promise : strategy.promises)
    text +=
        "| " + promise.condition + " | " + promise.verdict + " | " + cell(promise.reason) + " |\n";
  if (!strategy.points.empty()) text += "\nLab points: " + quotedList(strategy.points, "`") + ".\n";
  if (strategy.tryIt.empty()) return text;
  text += "\nTry it:\n\n```sh\n";
  for (const std::string& line : strategy.tryIt) text += line + "\n";
  return text + "```\n";
}

std::string lab() {
  std::string text =
      "\n## The lab\n\n`fault=point:action` makes something go wrong at a point, for this request "
      "only; several are separated by commas.\n\n| point | the moment when |\n|---|---|\n";
  for (const DescribedPoint& point : describedPoints())
    text += "| `" + point.name + "` | " + cell(point.meaning) + " |\n";
  return text + "\nActions: " + quotedList(labActions(), "`") + ".\n";
}

}  // namespace

std::string strategiesDoc() {
  const std::vector<Described> all = describedStrategies();
  std::string text = kOpening;
  text += "\n## Overview\n";
  for (const std::string& family : familiesOf(all)) text += overview(family, all);
  text += lab();
  text += "\n## One by one\n";
  for (const Described& one : all) text += section(one);
  return text;
}

void addStrategiesDoc(CLI::App& app) {
  app.add_subcommand("strategies-doc", "Print docs/strategies.md, made from the catalogue")
      ->callback([] { std::cout << strategiesDoc(); });
}

}  // namespace turnstile::harness
