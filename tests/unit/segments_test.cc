// How a segmented stock cuts an event, and what the audit makes of a part that is away. No server
// needed.
#include <gtest/gtest.h>

#include <vector>

#include "app/audit.h"
#include "app/segmented_stock.h"

namespace turnstile {
namespace {

TEST(Segments, ShareTheSeatsAndDifferByAtMostOne) {
  for (const int seats : {0, 1, 4, 5, 7, 2000, 2003}) {
    for (const std::size_t count : {1, 2, 3, 5, 8, 64}) {
      int sum = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const int size = segmentSize(seats, count, i);
        EXPECT_GE(size, seats / static_cast<int>(count));
        EXPECT_LE(size, seats / static_cast<int>(count) + 1);
        sum += size;
      }
      EXPECT_EQ(sum, seats) << seats << " seats over " << count;
    }
  }
}

TEST(Segments, NumberEverySeatOnce) {
  for (const int seats : {1, 5, 12, 2003}) {
    for (const std::size_t count : {1, 3, 5, 64}) {
      std::vector<int> times(static_cast<std::size_t>(seats) + 1, 0);
      for (std::size_t i = 0; i < count; ++i) {
        for (int local = 1; local <= segmentSize(seats, count, i); ++local) {
          const int seat = segmentSeat(local, count, i);
          ASSERT_GE(seat, 1);
          ASSERT_LE(seat, seats);
          ++times[static_cast<std::size_t>(seat)];
        }
      }
      for (int seat = 1; seat <= seats; ++seat)
        EXPECT_EQ(times[static_cast<std::size_t>(seat)], 1) << "seat " << seat << " of " << seats;
    }
  }
}

Tally tally(std::int64_t size, std::int64_t remaining, std::vector<int> seats) {
  Tally one;
  one.exists = true;
  one.size = size;
  one.remaining = remaining;
  one.seats = std::move(seats);
  return one;
}

TEST(Segments, SeatsOnANodeThatIsAwayAreUnavailableAndNotLost) {
  Tally segments = tally(10, 5, {1, 2, 3});
  segments.unavailable = 2;
  segments.away = {"redis-node-2"};
  const Audit found = judge("e", {{"segments", segments}});
  EXPECT_EQ(found.verdict, Verdict::safe);
  EXPECT_EQ(found.lost, 0);
  EXPECT_EQ(found.sold, 3);
  EXPECT_EQ(found.remaining, 7);
  EXPECT_EQ(found.unavailable, 2);
  EXPECT_EQ(found.away, std::vector<std::string>{"redis-node-2"});
}

TEST(Segments, ANodeThatIsAwayHidesNeitherALostNorADoubleSeat) {
  Tally lost = tally(10, 4, {1, 2, 3});
  lost.unavailable = 2;
  EXPECT_EQ(judge("e", {{"segments", lost}}).verdict, Verdict::lost);
  Tally twice = tally(10, 5, {1, 2, 2});
  twice.unavailable = 2;
  EXPECT_EQ(judge("e", {{"segments", twice}}).verdict, Verdict::oversold);
}

TEST(Segments, ANodeThatIsAwayChangesNothingForAnEventSoldFromAnotherStore) {
  Tally segments = tally(3, 2, {});
  segments.unavailable = 1;
  const Audit found = judge("e", {{"redis", tally(3, 0, {3, 2, 1})}, {"segments", segments}});
  EXPECT_EQ(found.verdict, Verdict::safe);
  EXPECT_EQ(found.remaining, 0);
}

}  // namespace
}  // namespace turnstile
