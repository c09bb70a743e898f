// The emulator itself: every primitive does what a GPU does, and every misuse is found and named.
#include "tests/emulator/emulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace strata::emulator {
namespace {

template <class Size>
class Emulator : public testing::Test {};
template <int size>
using Warps = std::integral_constant<int, size>;
using WarpSizes = testing::Types<Warps<32>, Warps<64>>;
TYPED_TEST_SUITE(Emulator, WarpSizes);

const std::vector<LaunchOptions> kOrders{{Order::round_robin},
                                         {Order::random, 1},
                                         {Order::random, 2},
                                         {Order::uneven, 3},
                                         {Order::uneven, 4}};

// launch() fails with a message that has these words in it.
template <int warp_size, class Body>
void expect_misuse(int blocks, int threads, const std::string& words, const Body& body) {
  for (LaunchOptions options : kOrders) {
    SCOPED_TRACE(testing::Message() << "seed " << options.seed);
    options.timeout = 100;
    try {
      launch<warp_size>(blocks, threads, 0, options, body);
      ADD_FAILURE() << "nothing thrown, expected: " << words;
    } catch (const EmulationError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

TYPED_TEST(Emulator, EveryThreadOfEveryBlockRunsOnce) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    std::vector<int> runs(3 * 2 * warp);
    launch<warp>(3, 2 * warp, 0, options, [&](auto& thread) {
      EXPECT_EQ(thread.blocks(), 3);
      EXPECT_EQ(thread.size(), 2 * warp);
      EXPECT_EQ(thread.warps(), 2);
      EXPECT_EQ(thread.warp() * warp + thread.lane(), thread.index());
      ++runs[thread.block() * thread.size() + thread.index()];
    });
    EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
  }
}

TYPED_TEST(Emulator, ShufflesGiveTheValueOfALaneFurtherUp) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    launch<warp>(2, 2 * warp, 0, options, [&](auto& thread) {
      const double own = 100.0 * thread.warp() + thread.lane();
      EXPECT_EQ(thread.shuffle_down(own, 3, warp), thread.lane() + 3 < warp ? own + 3 : own);
      EXPECT_EQ(thread.shuffle_down(own, 4, 8), thread.lane() % 8 < 4 ? own + 4 : own);
      EXPECT_EQ(thread.shuffle(own, 5), own - thread.lane() + 5);
      EXPECT_EQ(thread.shuffle_down(static_cast<float>(own), 0, warp), static_cast<float>(own));
    });
  }
}

TYPED_TEST(Emulator, RepeatedShufflesAddUpAWarp) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    launch<warp>(2, 2 * warp, 0, options, [&](auto& thread) {
      int sum = thread.lane();
      for (int delta = warp / 2; delta > 0; delta /= 2) {
        sum += thread.shuffle_down(sum, delta, warp);
      }
      EXPECT_TRUE(thread.lane() != 0 || sum == warp * (warp - 1) / 2);
    });
  }
}

TYPED_TEST(Emulator, VotesCountTheWholeWarpAndNoOther) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    launch<warp>(1, 2 * warp, 0, options, [&](auto& thread) {
      EXPECT_EQ(thread.any(thread.index() == warp + 5), thread.warp() == 1);
      EXPECT_EQ(thread.all(thread.index() != warp + 5), thread.warp() == 0);
    });
  }
}

TYPED_TEST(Emulator, BlocksShareMemoryAndWaitForEachOthersThreads) {
  constexpr int warp = TypeParam::value;
  constexpr int threads = 4 * warp;
  for (const LaunchOptions& options : kOrders) {
    launch<warp>(3, threads, threads * sizeof(int), options, [&](auto& thread) {
      int* numbers = thread.template shared<int>();
      for (int round = 0; round < 3; ++round) {
        numbers[thread.index()] = thread.block() * 1000 + round * threads + thread.index();
        thread.sync_block();
        const int other = threads - 1 - thread.index();
        EXPECT_EQ(numbers[other], thread.block() * 1000 + round * threads + other);
        thread.sync_block();
      }
    });
  }
}

TYPED_TEST(Emulator, WarpBarriersOrderSharedMemory) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    launch<warp>(1, warp, warp * sizeof(int), options, [&](auto& thread) {
      int* numbers = thread.template shared<int>();
      numbers[thread.lane()] = thread.lane();
      thread.sync_warp();
      EXPECT_EQ(numbers[warp - 1 - thread.lane()], warp - 1 - thread.lane());
    });
  }
}

TYPED_TEST(Emulator, SharedMemoryStartsAsGarbage) {
  constexpr int warp = TypeParam::value;
  launch<warp>(2, warp, sizeof(int), {}, [](auto& thread) {
    EXPECT_NE(*thread.template shared<int>(), 0);
    thread.sync_block();
    *thread.template shared<int>() = 0;
  });
}

TYPED_TEST(Emulator, AdditionsToFlagsAreNeverLost) {
  constexpr int warp = TypeParam::value;
  for (const LaunchOptions& options : kOrders) {
    std::uint32_t counter = 0;
    std::set<std::uint32_t> tickets;
    launch<warp>(3, warp, 0, options,
                 [&](auto& thread) { tickets.insert(thread.add_flag(&counter, 2)); });
    EXPECT_EQ(counter, 2U * 3 * warp);
    EXPECT_EQ(tickets.size(), 3U * warp);
  }
}

// A chain through all blocks, last to first: possible only if all of them are resident.
TYPED_TEST(Emulator, BlocksMayWaitForBlocksThatStartLater) {
  constexpr int warp = TypeParam::value;
  constexpr int blocks = 16;
  for (const LaunchOptions& options : kOrders) {
    std::vector<std::uint32_t> flags(blocks + 1);
    std::vector<int> order;
    flags[blocks] = 1;
    launch<warp>(blocks, 256, 0, options, [&](auto& thread) {
      if (thread.index() == 0) {
        while (thread.load_flag(&flags[thread.block() + 1]) == 0) thread.pause();
        thread.fence();
      }
      thread.sync_block();
      if (thread.index() == 255) order.push_back(thread.block());
      thread.sync_block();
      if (thread.index() == 0) {
        thread.fence();
        thread.store_flag(&flags[thread.block()], 1);
      }
    });
    std::vector<int> expected(blocks);
    for (int block = 0; block < blocks; ++block) expected[block] = blocks - 1 - block;
    EXPECT_EQ(order, expected);
  }
}

// Which thread comes when.
template <int warp>
std::vector<int> arrivals(const LaunchOptions& options) {
  std::vector<int> order;
  std::uint32_t flag = 0;
  launch<warp>(2, 2 * warp, 0, options, [&](auto& thread) {
    for (int round = 0; round < 3; ++round) {
      thread.load_flag(&flag);
      order.push_back(thread.block() * thread.size() + thread.index());
    }
  });
  return order;
}

TYPED_TEST(Emulator, TheSeedDecidesTheOrderAndNothingElse) {
  constexpr int warp = TypeParam::value;
  std::set<std::vector<int>> orders;
  for (const LaunchOptions& options : kOrders) {
    const std::vector<int> order = arrivals<warp>(options);
    EXPECT_EQ(order, arrivals<warp>(options));
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), kOrders.size());
}

TYPED_TEST(Emulator, UnevenWarpsDriftFarApart) {
  constexpr int warp = TypeParam::value;
  std::uint32_t flag = 0;
  std::vector<int> rounds(8);
  int widest = 0;
  launch<warp>(8, warp, 0, {Order::uneven, 1}, [&](auto& thread) {
    for (int round = 0; round < 64; ++round) {
      thread.load_flag(&flag);
      thread.sync_warp();
      if (thread.lane() != 0) continue;
      ++rounds[thread.block()];
      widest = std::max(widest, rounds[thread.block()] - std::ranges::min(rounds));
    }
  });
  EXPECT_GT(widest, 32);
}

TYPED_TEST(Emulator, AShuffleWithoutAThreadThatHasExitedIsFound) {
  constexpr int warp = TypeParam::value;
  expect_misuse<warp>(2, 2 * warp, "thread 40", [](auto& thread) {
    if (thread.block() == 1 && thread.index() == 40) return;
    thread.shuffle_down(1, 1, warp);
  });
  expect_misuse<warp>(2, 2 * warp, "block 1, warp", [](auto& thread) {
    if (thread.block() == 1 && thread.index() == 40) return;
    thread.any(true);
  });
}

TYPED_TEST(Emulator, AShuffleWhileOthersWaitForTheBlockIsFound) {
  constexpr int warp = TypeParam::value;
  expect_misuse<warp>(1, 2 * warp, "waits for its block", [](auto& thread) {
    if (thread.index() % 2 == 0) {
      thread.sync_block();
    } else {
      thread.shuffle_down(1.0, 1, warp);
    }
  });
}

TYPED_TEST(Emulator, DifferentExchangesOfOneWarpAreFound) {
  constexpr int warp = TypeParam::value;
  expect_misuse<warp>(1, warp, "is at sync_warp", [](auto& thread) {
    if (thread.lane() == 3) {
      thread.sync_warp();
    } else {
      thread.all(true);
    }
  });
}

TYPED_TEST(Emulator, ABarrierThatPartOfTheBlockNeverReachesIsFound) {
  constexpr int warp = TypeParam::value;
  expect_misuse<warp>(2, 2 * warp, "exit", [](auto& thread) {
    if (thread.warp() == 1) return;
    thread.sync_block();
  });
  expect_misuse<warp>(2, 2 * warp, "exit", [](auto& thread) {
    if (thread.index() == 5) return;
    thread.sync_block();
  });
}

TYPED_TEST(Emulator, WaitingForAFlagThatIsNeverSetIsFound) {
  constexpr int warp = TypeParam::value;
  const std::uint32_t flag = 0;
  const std::string words = "polls a flag that no thread changes any more";
  expect_misuse<warp>(2, warp, words, [&](auto& thread) {
    while (thread.load_flag(&flag) == 0) thread.pause();
  });
  // One thread polls, the others wait for it at a barrier, round after round.
  expect_misuse<warp>(2, 2 * warp, words, [&](auto& thread) {
    for (bool seen = false; !seen; thread.sync_block()) {
      if (thread.index() == 0) seen = thread.load_flag(&flag) != 0;
    }
  });
  // Two blocks that wait for each other.
  std::vector<std::uint32_t> flags(2);
  expect_misuse<warp>(2, warp, words, [&](auto& thread) {
    if (thread.lane() == 0) {
      while (thread.load_flag(&flags[1 - thread.block()]) == 0) thread.pause();
      thread.store_flag(&flags[thread.block()], 1);
    }
    thread.sync_warp();
  });
}

TYPED_TEST(Emulator, WhatABodyThrowsArrivesAndUnwindsAllThreads) {
  constexpr int warp = TypeParam::value;
  struct Counted {
    explicit Counted(int& alive) : alive_(alive) { ++alive_; }
    ~Counted() { --alive_; }
    int& alive_;
  };
  for (const LaunchOptions& options : kOrders) {
    int alive = 0;
    EXPECT_THROW(launch<warp>(2, 2 * warp, 0, options,
                              [&](auto& thread) {
                                const Counted counted(alive);
                                if (thread.index() == 7) throw InvalidArgument("seven");
                                thread.sync_block();
                              }),
                 InvalidArgument);
    EXPECT_EQ(alive, 0);
  }
}

TEST(EmulatorGrid, BlocksOfPartialWarpsAreRefused) {
  EXPECT_THROW(launch<64>(1, 96, 0, {}, [](auto&) {}), InvalidArgument);
  EXPECT_THROW(launch<32>(0, 32, 0, {}, [](auto&) {}), InvalidArgument);
}

}  // namespace
}  // namespace strata::emulator
