#include <gtest/gtest.h>

#include "loadtest/verdict.h"

namespace turnstile::harness {
namespace {

// A clean sale: 1000 of 5000 seats sold, 980 of them heard by buyers, 64 requests in flight at the
// end. Tests bend it.
Audit cleanAudit() {
  Audit audit;
  audit.stock = 5000;
  audit.remaining = 4000;
  audit.sold = 1000;
  audit.distinctSeats = 1000;
  audit.verdict = "safe";
  return audit;
}

ClientCount cleanClient() {
  ClientCount client;
  client.seconds = 2;
  client.sold = 980;
  client.requests = 980;
  client.issued = 1044;  // 64 in flight at the end
  return client;
}

TEST(HarnessVerdict, IsSafeWhenLedgerStockAndBuyersAgree) {
  const Judgement judgement = judge(cleanAudit(), cleanClient());
  EXPECT_EQ(judgement.verdict, Verdict::safe) << judgement.reason;
  EXPECT_EQ(judgement.inFlightAllowed, 64);
}

TEST(HarnessVerdict, ASeatSoldTwiceIsOversold) {
  Audit audit = cleanAudit();
  audit.doubleSold = 3;
  audit.distinctSeats = 997;
  audit.verdict = "oversold";
  const Judgement judgement = judge(audit, cleanClient());
  EXPECT_EQ(judgement.verdict, Verdict::oversold);
  EXPECT_NE(judgement.reason.find("3 sales"), std::string::npos) << judgement.reason;
}

TEST(HarnessVerdict, MoreSoldThanTakenOffTheStockIsOversoldEvenWithDistinctSeats) {
  Audit audit = cleanAudit();
  audit.remaining = 4010;
  audit.verdict = "oversold";
  EXPECT_EQ(judge(audit, cleanClient()).verdict, Verdict::oversold);
}

TEST(HarnessVerdict, AStockBelowZeroIsOversold) {
  Audit audit = cleanAudit();
  audit.stock = 999;
  audit.remaining = -1;
  audit.verdict = "oversold";
  EXPECT_EQ(judge(audit, cleanClient()).verdict, Verdict::oversold);
}

TEST(HarnessVerdict, StockGoneWithoutASaleIsLost) {
  Audit audit = cleanAudit();
  audit.remaining = 3990;
  audit.verdict = "lost";
  const Judgement judgement = judge(audit, cleanClient());
  EXPECT_EQ(judgement.verdict, Verdict::lost);
  EXPECT_NE(judgement.reason.find("10 seats"), std::string::npos) << judgement.reason;
}

TEST(HarnessVerdict, ASaleThatTheLedgerDoesNotKnowIsDisagreement) {
  ClientCount client = cleanClient();
  client.sold = client.requests = 1001;
  client.issued = 1065;
  EXPECT_EQ(judge(cleanAudit(), client).verdict, Verdict::disagree);
}

TEST(HarnessVerdict, SalesNobodyHeardOfAreDisagreementBeyondWhatWasInFlight) {
  ClientCount client = cleanClient();
  client.issued = 1000;  // 20 in flight: exactly enough for the 20 sales not heard
  EXPECT_EQ(judge(cleanAudit(), client).verdict, Verdict::safe);
  client.issued = 999;
  EXPECT_EQ(judge(cleanAudit(), client).verdict, Verdict::disagree);
}

TEST(HarnessVerdict, AnAnswerThatLeftTheResultOpenMayHaveSold) {
  ClientCount client = cleanClient();
  client.sold = 999;
  client.unknown = 1;
  client.requests = client.issued = 1000;
  const Judgement judgement = judge(cleanAudit(), client);
  EXPECT_EQ(judgement.verdict, Verdict::safe) << judgement.reason;
  EXPECT_EQ(judgement.inFlightAllowed, 1);
}

TEST(HarnessVerdict, AFailureOnEveryConnectionIsADisturbedRunHoweverManyAnswersThereWere) {
  ClientCount client = cleanClient();
  client.connections = 64;
  client.sold = 999'900;
  client.unknown = 63;
  client.requests = client.issued = 1'000'000;
  Audit audit = cleanAudit();
  audit.stock = 2'000'000;
  audit.remaining = 1'000'100;
  audit.sold = audit.distinctSeats = 999'900;
  EXPECT_EQ(judge(audit, client).verdict, Verdict::safe);
  client.unknown = 64;
  EXPECT_EQ(judge(audit, client).verdict, Verdict::unknown);
}

TEST(HarnessVerdict, TheServiceContradictingItsOwnFiguresIsDisagreement) {
  Audit audit = cleanAudit();
  audit.verdict = "oversold";
  EXPECT_EQ(judge(audit, cleanClient()).verdict, Verdict::disagree);
}

TEST(HarnessVerdict, DisagreementIsNotHiddenBehindAnOversoldLedger) {
  Audit audit = cleanAudit();
  audit.doubleSold = 3;
  audit.distinctSeats = 997;
  audit.verdict = "oversold";
  ClientCount client = cleanClient();
  client.sold = client.requests = 2000;
  const Judgement judgement = judge(audit, client);
  EXPECT_EQ(judgement.verdict, Verdict::disagree);
  EXPECT_NE(judgement.reason.find("already sold"), std::string::npos) << judgement.reason;
}

TEST(HarnessVerdict, ARunFullOfFailuresIsUnknownAndSaysTheFirst) {
  ClientCount client = cleanClient();
  client.error = 500;
  client.requests = 1480;
  client.issued = 1544;
  client.firstError = "502 {\"error\":\"redis is down\"}";
  const Judgement judgement = judge(cleanAudit(), client);
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_NE(judgement.reason.find("redis is down"), std::string::npos) << judgement.reason;
}

TEST(HarnessVerdict, AProvenOversellStaysProvenInADisturbedRun) {
  Audit audit = cleanAudit();
  audit.doubleSold = 3;
  audit.distinctSeats = 997;
  audit.verdict = "oversold";
  ClientCount client = cleanClient();
  client.error = 500;
  client.requests = 1480;
  client.issued = 1544;
  EXPECT_EQ(judge(audit, client).verdict, Verdict::oversold);
}

TEST(HarnessVerdict, EverybodyBusyAndNobodyServedIsStuck) {
  Audit audit = cleanAudit();
  audit.sold = audit.distinctSeats = 0;
  audit.remaining = audit.stock;
  ClientCount client;
  client.busy = client.requests = 300;
  client.issued = 364;
  EXPECT_EQ(judge(audit, client).verdict, Verdict::stuck);
}

TEST(HarnessVerdict, NoAnswerAtAllIsUnknown) {
  Audit audit = cleanAudit();
  audit.sold = audit.distinctSeats = 0;
  audit.remaining = audit.stock;
  EXPECT_EQ(judge(audit, ClientCount{}).verdict, Verdict::unknown);
}

// ---- the last seat ----

Audit emptyHouse() {
  Audit audit;
  audit.stock = audit.sold = audit.distinctSeats = 3;
  audit.verdict = "safe";
  return audit;
}

ClientCount threeBuyers() {
  ClientCount client;
  client.sold = 3;
  client.soldOut = 10;
  client.requests = client.issued = 13;
  client.seats = {3, 1, 2};
  return client;
}

TEST(HarnessSellOut, IsSafeWhenEverySeatHasOneOwner) {
  EXPECT_EQ(judgeSellOut(emptyHouse(), threeBuyers()).verdict, Verdict::safe);
}

TEST(HarnessSellOut, SeatsLeftAreNotASellOut) {
  Audit audit = emptyHouse();
  audit.stock = 4;
  audit.remaining = 1;
  const Judgement judgement = judgeSellOut(audit, threeBuyers());
  EXPECT_EQ(judgement.verdict, Verdict::unknown);
  EXPECT_NE(judgement.reason.find("1 seats left"), std::string::npos) << judgement.reason;
  EXPECT_EQ(judgeSellOut(audit, threeBuyers(), true).verdict, Verdict::stuck);
}

TEST(HarnessSellOut, TwoBuyersWithOneSeatContradictALedgerThatShowsItOnce) {
  ClientCount client = threeBuyers();
  client.seats = {3, 3, 2};
  EXPECT_EQ(judgeSellOut(emptyHouse(), client).verdict, Verdict::disagree);
}

TEST(HarnessSellOut, ASeatOutsideTheHouseIsDisagreement) {
  ClientCount client = threeBuyers();
  client.seats = {3, 2, 0};
  EXPECT_EQ(judgeSellOut(emptyHouse(), client).verdict, Verdict::disagree);
}

TEST(HarnessWorst, OneBadRoundMakesTheStrategyBad) {
  EXPECT_EQ(worst(Verdict::safe, Verdict::oversold), Verdict::oversold);
  EXPECT_EQ(worst(Verdict::unknown, Verdict::safe), Verdict::unknown);
  EXPECT_EQ(worst(Verdict::oversold, Verdict::unknown), Verdict::oversold);
  EXPECT_EQ(worst(Verdict::oversold, Verdict::disagree), Verdict::disagree);
  EXPECT_EQ(worst(Verdict::safe, Verdict::safe), Verdict::safe);
}

TEST(HarnessVerdict, FailuresThatWereAskedForSayNothingAgainstARun) {
  ClientCount client = cleanClient();
  client.error = 500;
  client.requests += 500;
  EXPECT_EQ(judge(cleanAudit(), client).verdict, Verdict::unknown);
  EXPECT_EQ(judgeUnderFault(cleanAudit(), client).verdict, Verdict::safe);
  client.sold = 1001;
  EXPECT_EQ(judgeUnderFault(cleanAudit(), client).verdict, Verdict::disagree) << "a sale that no ledger knows";
}

}  // namespace
}  // namespace turnstile::harness
