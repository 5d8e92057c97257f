// What the harness knows of a strategy: the catalogue's own words. This is the one place where the
// harness touches the registry it shares with the server.
#pragma once

#include <string>
#include <vector>

namespace turnstile::harness {

struct Promised {
  std::string condition;  // contention, one-instance, or a fault's name
  std::string verdict;    // safe, oversold, lost, stuck
  std::string reason;     // one sentence
};

struct Described {
  std::string name, family, summary;
  std::vector<std::string> stocks;
  std::vector<Promised> promises;
  bool reentrant = false, fenced = false;
  std::vector<std::string> points{};  // of the lab that it passes
  std::vector<std::string> tryIt{};   // shell lines that show its lesson

  const Promised* promise(const std::string& condition) const;  // nullptr: none
  // The promise for a plain sale: one-instance where there is one, else contention. nullptr:
  // nothing is promised.
  const Promised* forInstances(int instances) const;
};

std::vector<Described> describedStrategies();

// A point of the lab and what it means.
struct DescribedPoint {
  std::string name, meaning;
};
std::vector<DescribedPoint> describedPoints();
std::vector<std::string> labActions();
std::string framework();  // what the server is built on: "Drogon 1.9.13"

}  // namespace turnstile::harness
