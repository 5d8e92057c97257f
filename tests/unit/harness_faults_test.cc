// The fault matrix without a stack: which cells there are, what they come to, how they are shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loadtest/fault_kinds.h"
#include "loadtest/fault_matrix.h"

namespace turnstile::harness {
namespace {

const std::vector<std::string> kFaults{"contention", "crash", "freeze"};

Described described(const std::string& name, const std::vector<Promised>& promises) {
  return {name, "", "", {}, promises};
}

std::vector<Described> catalogue() {
  return {described("none", {{"contention", "oversold", "no lock"}}),
          described("lock", {{"crash", "stuck", "nobody releases"},
                             {"contention", "safe", "one at a time"}}),
          described("lua", {{"contention", "safe", "one script"}})};
}

std::vector<std::string> namesOf(const std::vector<Cell>& cells) {
  std::vector<std::string> names;
  for (const Cell& cell : cells) names.push_back(cell.fault + "/" + cell.strategy);
  return names;
}

Cell played(const std::string& strategy, const std::string& promised, Verdict seen) {
  return {.strategy = strategy,
          .fault = "crash",
          .promised = {"crash", promised, ""},
          .seen = {seen, "", 0},
          .played = true};
}

TEST(FaultMatrix, HasACellForEveryPromiseFaultByFault) {
  const std::vector<std::string> expected{"contention/none", "contention/lock", "contention/lua",
                                          "crash/lock"};
  EXPECT_EQ(namesOf(plannedCells(catalogue(), kFaults, {}, {})), expected);
}

TEST(FaultMatrix, TheControlComesWithContentionAlone) {
  const std::vector<std::string> contended{"contention/none", "contention/lua"},
      crashed{"crash/lock"};
  EXPECT_EQ(namesOf(plannedCells(catalogue(), kFaults, {"lua"}, {})), contended);
  EXPECT_EQ(namesOf(plannedCells(catalogue(), kFaults, {"lock"}, {"crash"})), crashed);
}

std::string refusal(const std::vector<std::string>& strategies,
                    const std::vector<std::string>& faults) {
  try {
    plannedCells(catalogue(), kFaults, strategies, faults);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(FaultMatrix, SaysWhatIsAllowed) {
  EXPECT_EQ(refusal({}, {"fire"}), "unknown fault 'fire'; allowed: contention, crash, freeze");
  EXPECT_NE(refusal({"luck"}, {}).find("luck"), std::string::npos);
  EXPECT_NE(refusal({"lua"}, {"crash"}).find("--list"), std::string::npos)
      << "nobody promises that";
}

TEST(FaultMatrix, ExitsAsTheContractSays) {
  const Cell kept = played("lock", "stuck", Verdict::stuck),
             broken = played("lock", "safe", Verdict::oversold);
  const Cell untold = played("lock", "safe", Verdict::unknown),
             weak = played("none", "oversold", Verdict::safe);
  Cell unplayed = kept;
  unplayed.played = false;
  EXPECT_EQ(exitCodeOf({kept, kept}), 0);
  EXPECT_EQ(exitCodeOf({kept, broken}), 1);
  EXPECT_EQ(exitCodeOf({played("lock", "stuck", Verdict::safe)}), 1)
      << "a flaw that is gone is a broken promise too";
  EXPECT_EQ(exitCodeOf({kept, untold}), 2);
  EXPECT_EQ(exitCodeOf({kept, unplayed}), 2);
  EXPECT_EQ(exitCodeOf({weak}), 2) << "a control that does not fail proves nothing";
  EXPECT_EQ(exitCodeOf({untold, broken}), 1);
}

TEST(FaultMatrix, MarksWhatWasSeenAndWhatWasNotPromised) {
  std::vector<Cell> cells{played("lock", "stuck", Verdict::stuck),
                          played("lua", "safe", Verdict::oversold)};
  cells.push_back(
      {.strategy = "lua", .fault = "freeze", .promised = {"freeze", "safe", ""}, .seen = {}});
  const Table table = matrixTable(cells, kFaults);
  EXPECT_EQ(table.columns.size(), 3u) << "strategy, crash, freeze: no empty column";
  const std::vector<std::vector<std::string>> expected{{"lock", "■", ""}, {"lua", "✗!", "·"}};
  EXPECT_EQ(table.rows, expected);
}

TEST(FaultMatrix, KeepsTheWordsForTheReport) {
  Cell cell = played("lock", "safe", Verdict::oversold);
  cell.seen.reason = "1 seat twice";
  cell.promised.reason = "it should not";
  const Json::Value one = toJson({cell})[0];
  EXPECT_EQ(one["verdict"].asString(), "oversold");
  EXPECT_EQ(one["seen"].asString(), "1 seat twice");
  EXPECT_EQ(one["why"].asString(), "it should not");
  EXPECT_FALSE(one["kept"].asBool());
}

// A promise that nobody stages would be a silent skip.
TEST(FaultKinds, EveryPromiseOfTheCatalogueIsStaged) {
  std::set<std::string> staged, promised;
  for (const FaultKind& kind : faultKinds()) staged.insert(kind.name);
  for (const Described& strategy : describedStrategies())
    for (const Promised& one : strategy.promises) promised.insert(one.condition);
  EXPECT_EQ(staged, promised);
}

}  // namespace
}  // namespace turnstile::harness
