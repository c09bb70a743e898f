// Waiting for progress: no thread misses a wake-up, however soon it sleeps.
#include "strata/execute/progress.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace strata {
namespace {

constexpr Polling kAtOnce{.pauses = 0, .yields = 0};  // sleeps without polling

// Each thread waits for the one before it at every step. What they hand on is not atomic, so that
// ThreadSanitizer sees whether waiting orders it.
void run_relay(int threads, Offset rounds, const Polling& polling) {
  std::vector<ProgressCounter> counters(static_cast<std::size_t>(threads));
  const std::atomic<bool> failed{false};
  Offset handed_on = 0;
  std::vector<std::thread> runners;
  for (int thread = 0; thread < threads; ++thread) {
    runners.emplace_back([&, thread] {
      for (Offset round = 1; round <= rounds; ++round) {
        const int before = thread == 0 ? threads - 1 : thread - 1;
        const Offset needed = thread == 0 ? round - 1 : round;
        const Offset seen = counters[before].wait_for(needed, failed, polling);
        EXPECT_GE(seen, needed);
        ++handed_on;
        counters[thread].publish(round);
      }
    });
  }
  for (std::thread& runner : runners) runner.join();
  EXPECT_EQ(handed_on, threads * rounds);
}

TEST(ProgressCounter, NoWakeUpIsLost) {
  run_relay(2, 20000, kAtOnce);
  run_relay(5, 4000, kAtOnce);
  run_relay(3, 4000, {.pauses = 3, .yields = 2});
  run_relay(3, 4000, {});
}

TEST(ProgressCounter, OneWakesAllThatWait) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    ProgressCounter counter;
    const std::atomic<bool> failed{false};
    std::vector<std::thread> waiting;
    for (int thread = 0; thread < 6; ++thread) {
      waiting.emplace_back([&, thread] {
        for (Offset needed = thread; needed <= 200; needed += 1 + thread) {
          EXPECT_GE(counter.wait_for(needed, failed, kAtOnce), needed);
        }
      });
    }
    for (Offset done = 1; done <= 200; ++done) counter.publish(done);
    for (std::thread& waiter : waiting) waiter.join();
  }
}

TEST(ProgressCounter, AFailureWakesThoseWhoWouldWaitForEver) {
  for (int repetition = 0; repetition < 500; ++repetition) {
    ProgressCounter counter;
    std::atomic<bool> failed{false};
    std::vector<std::thread> waiting;
    for (int thread = 0; thread < 3; ++thread) {
      waiting.emplace_back([&] { EXPECT_EQ(counter.wait_for(1, failed, kAtOnce), 0); });
    }
    failed.store(true, std::memory_order_seq_cst);
    counter.wake_sleepers();
    for (std::thread& waiter : waiting) waiter.join();
  }
}

TEST(ProgressCounter, WhatIsDoneNeedsNoWaiting) {
  ProgressCounter counter;
  const std::atomic<bool> failed{false};
  counter.publish(7);
  EXPECT_EQ(counter.wait_for(7, failed, kAtOnce), 7);
  EXPECT_EQ(counter.wait_for(0, failed, kAtOnce), 7);
  counter.reset();
  EXPECT_EQ(counter.wait_for(0, failed, kAtOnce), 0);
}

}  // namespace
}  // namespace strata
