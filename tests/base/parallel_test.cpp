#include "strata/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "strata/base/error.hpp"

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
    parallel_own_first(count, [&](Offset begin, Offset end) {
      for (Offset i = begin; i < end; ++i) ++visits[i];
    });
    for (const auto& visit : visits) ASSERT_EQ(visit, 3);
  }
}

TEST_P(Parallel, AnExceptionReachesTheCaller) {
  const auto fail_late = [](Offset i) {
    if (i == 9000) throw std::runtime_error("row 9000");
  };
  EXPECT_THROW(parallel_for(10000, fail_late), std::runtime_error);
  EXPECT_THROW(parallel_dynamic(10000, 10, [&](Offset begin, Offset) { fail_late(begin); }),
               std::runtime_error);
  const auto fail_at_last = [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i) fail_late(i);
  };
  EXPECT_THROW(parallel_own_first(10000, fail_at_last), std::runtime_error);
}

TEST_P(Parallel, ScanTurnsCountsIntoOffsets) {
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

TEST_P(Parallel, ReduceOfYesAndNo) {
  const auto has = [](Offset wanted) {
    return parallel_reduce(
        Offset{100000}, false,
        [&](Offset begin, Offset end) { return begin <= wanted && wanted < end; },
        std::logical_or<>{});
  };
  for (const Offset wanted : {0, 4711, 99999}) EXPECT_TRUE(has(wanted));
  EXPECT_FALSE(has(100000));
}

// Reductions and scans on several threads while another changes what the process uses.
TEST(ThreadCount, CanChangeWhileOthersWork) {
  const auto sum_of = [](Offset begin, Offset end) {
    return (end - begin) * (begin + end - 1) / 2;
  };
  std::atomic<bool> done{false};
  std::thread changing([&] {
    for (int round = 0; !done; ++round) set_thread_count(1 + round % 4);
  });
  std::vector<std::thread> working;
  std::atomic<int> wrong{0};
  for (int worker = 0; worker < 2; ++worker) {
    working.emplace_back([&] {
      std::vector<Offset> values(10000);
      for (int round = 0; round < 1000; ++round) {
        if (parallel_reduce(10000, Offset{0}, sum_of, std::plus<>{}) != 49995000) ++wrong;
        std::ranges::fill(values, 1);
        if (exclusive_scan(values) != 10000 || values.back() != 9999) ++wrong;
      }
    });
  }
  for (std::thread& worker : working) worker.join();
  done = true;
  changing.join();
  set_thread_count(0);
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadCount, OutsideItsRangeIsRefused) {
  const int before = thread_count();
  for (const int count : {-1, kMaxThreads + 1, 30000}) {
    EXPECT_THROW(set_thread_count(count), InvalidArgument);
    EXPECT_THROW(ThreadCountScope{count}, InvalidArgument);
    EXPECT_THROW(run_on_threads(count, [](int, int) {}), InvalidArgument);
    EXPECT_EQ(thread_count(), before);
  }
  set_thread_count(kMaxThreads);
  EXPECT_EQ(thread_count(), kMaxThreads);
  set_thread_count(0);
  EXPECT_EQ(thread_count(), before);
}

TEST(ThreadCount, OfAScopeHoldsWhileItLivesAndInItsThreadAlone) {
  set_thread_count(5);
  {
    const ThreadCountScope outer(3);
    EXPECT_EQ(thread_count(), 3);
    {
      const ThreadCountScope inner(7);
      EXPECT_EQ(thread_count(), 7);
      const ThreadCountScope nothing(0);
      EXPECT_EQ(thread_count(), 7);
      int elsewhere = 0;
      std::thread([&] { elsewhere = thread_count(); }).join();
      EXPECT_EQ(elsewhere, 5);
    }
    EXPECT_EQ(thread_count(), 3);
    set_thread_count(6);
    EXPECT_EQ(thread_count(), 3);
  }
  EXPECT_EQ(thread_count(), 6);
  set_thread_count(0);
}

TEST(ThreadCount, OfAScopeIsTheMostThatLoopsUse) {
  set_thread_count(8);
  {
    const ThreadCountScope alone(1);
    const std::thread::id self = std::this_thread::get_id();
    const auto expect_self = [&](Offset, Offset) { EXPECT_EQ(std::this_thread::get_id(), self); };
    parallel_chunks(100000, expect_self);
    parallel_dynamic(100000, 10000, expect_self);
    parallel_own_first(100000, expect_self);
    const auto reduced = [&](Offset begin, Offset end) {
      expect_self(begin, end);
      return Offset{0};
    };
    parallel_reduce(100000, Offset{0}, reduced, std::plus<>{});
  }
  set_thread_count(0);
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
