#include "strata/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>

namespace strata {
namespace {

// Runs every test body with one thread, with more threads than cores, and with the default.
class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(0); }
};
INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(0, 1, 3, 16));

TEST_P(Parallel, EveryItemIsVisitedOnce) {
  for (const Offset count :
       {Offset{0}, Offset{1}, kSerialBelow - 1, kSerialBelow, Offset{100003}}) {
    std::vector<std::atomic<int>> visits(count);
    parallel_for(count, [&](Offset i) { ++visits[i]; });
    parallel_dynamic(count, 17, [&](Offset begin, Offset end) {
      for (Offset i = begin; i < end; ++i) ++visits[i];
    });
    for (const auto& visit : visits) ASSERT_EQ(visit, 2);
  }
}

TEST_P(Parallel, AnExceptionReachesTheCaller) {
  const auto fail_late = [](Offset i) {
    if (i == 9000) throw std::runtime_error("row 9000");
  };
  EXPECT_THROW(parallel_for(10000, fail_late), std::runtime_error);
  EXPECT_THROW(parallel_dynamic(10000, 10, [&](Offset begin, Offset) { fail_late(begin); }),
               std::runtime_error);
}

TEST_P(Parallel, ScanTurnsCountsIntoPositions) {
  for (const std::size_t count : {0UL, 1UL, 4095UL, 4096UL, 50001UL}) {
    std::vector<Offset> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<Offset>(i * 7919 % 13);
    std::vector<Offset> expected(count);
    std::exclusive_scan(values.begin(), values.end(), expected.begin(), Offset{0});
    const Offset total = std::accumulate(values.begin(), values.end(), Offset{0});
    EXPECT_EQ(exclusive_scan(values), total);
    EXPECT_EQ(values, expected);
  }
}

TEST_P(Parallel, ReduceCombinesEveryPiece) {
  const auto sum_of = [](Offset begin, Offset end) {
    return (end - begin) * (begin + end - 1) / 2;
  };
  EXPECT_EQ(parallel_reduce(100000, Offset{5}, sum_of, std::plus<>{}), 4999950000 + 5);
  EXPECT_EQ(parallel_reduce(0, Offset{5}, sum_of, std::plus<>{}), 5);
}

TEST_P(Parallel, NestedLoopsRunOnOneThread) {
  std::atomic<Offset> visits{0};
  run_on_threads(4, [&](int, int team) {
    parallel_for(10000, [&](Offset) { ++visits; });
    EXPECT_LE(team, 4);
  });
  EXPECT_EQ(visits % 10000, 0);
  EXPECT_GE(visits, 10000);
}

TEST(Chunks, CoverTheRangeInOrder) {
  for (const int parts : {1, 2, 7, 64}) {
    Offset expected = 0;
    for (int part = 0; part < parts; ++part) {
      const Chunk chunk = chunk_of(50, part, parts);
      EXPECT_EQ(chunk.begin, expected);
      expected = chunk.end;
    }
    EXPECT_EQ(expected, 50);
  }
}

TEST(Chunks, CanBeBalancedByEntries) {
  // Line 2 has 100 of 104 entries: it is a part of its own.
  const std::vector<Offset> offsets{0, 1, 2, 102, 103, 104};
  const Chunk first = balanced_chunk_of(offsets, 0, 2);
  const Chunk second = balanced_chunk_of(offsets, 1, 2);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(first.end, second.begin);
  EXPECT_EQ(second.begin, 3);
  EXPECT_EQ(second.end, 5);
  const std::vector<Offset> no_lines{0};
  EXPECT_EQ(balanced_chunk_of(no_lines, 0, 3).end, 0);
  EXPECT_EQ(balanced_chunk_of(no_lines, 2, 3).end, 0);
}

}  // namespace
}  // namespace strata
