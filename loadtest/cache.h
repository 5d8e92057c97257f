// `turnstile-harness cache`: the hot-key scoreboard. Under steady load a hot key is made to expire
// again and again; for each policy: database reads per expiry, how long requests waited that began
// while it was being rebuilt, stale answers, errors. Table, cache.json, report.html.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace turnstile::harness {

struct CacheOptions {
  std::vector<std::string> policies;  // empty: all
  int expiries = 10;
  int connections = 256;
  int instances = 0;  // 0: as they run, else 3
  int basePort = 8080;
  bool keepUp = false;
  bool checkConsistency = false;  // the stale-read checker instead of the scoreboard
  long operations = 100'000;      // of the checker, for each policy
  std::filesystem::path out;      // empty: out/<time> in the checkout, with the link out/latest
};

// Exit code: 0 every policy kept its promise, 1 one did not, 2 could not tell (the load was too
// weak for `none` to stampede, interrupted). Throws as compare() does.
int cacheRun(const CacheOptions& options, const std::vector<std::string>& command);

// Exit code: 0 rw-lock has no stale read, 1 it has, 2 the checker could not tell.
int consistencyRun(const CacheOptions& options, const std::vector<std::string>& command);

void addCache(CLI::App& app, const std::vector<std::string>& command, int& exitCode);

}  // namespace turnstile::harness
