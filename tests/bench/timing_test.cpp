#include "strata/bench/timing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "strata/base/error.hpp"

namespace strata {
namespace {

// Longer than the shortest sample: one run per sample.
void run_for_a_while() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(Summarise, KnowsMedianMinimumAndPercentile) {
  const std::vector<double> odd{5, 1, 3};
  EXPECT_EQ(summarise(odd).median, 3);
  EXPECT_EQ(summarise(odd).minimum, 1);
  EXPECT_EQ(summarise(odd).p95, 5);
  EXPECT_EQ(summarise(odd).repetitions, 3);
  const std::vector<double> even{4, 1, 2, 8};
  EXPECT_EQ(summarise(even).median, 3);
}

TEST(Summarise, KeepsSomeSamplesInTheirOrder) {
  EXPECT_EQ(summarise(std::vector<double>{5, 1, 3}).kept, (std::vector<double>{5, 1, 3}));
  std::vector<double> many(1000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i);
  const std::vector<double> kept = summarise(many).kept;
  EXPECT_LE(std::ssize(kept), kMostKept);
  EXPECT_GE(std::ssize(kept), kMostKept / 2);
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_GT(kept.back(), 900);
}

TEST(Summarise, OneOutlierInTwentyIsBeyondThePercentile) {
  std::vector<double> samples(19, 1.0);
  samples.push_back(100);
  EXPECT_EQ(summarise(samples).p95, 1);
  EXPECT_EQ(summarise(samples).median, 1);
}

TEST(Summarise, OfNothingIsNothing) {
  EXPECT_EQ(summarise({}).repetitions, 0);
  EXPECT_EQ(summarise({}).median, 0);
}

TEST(TimeRuns, RepeatsUntilTimeAndCountAreReached) {
  const Timing by_count = time_runs(run_for_a_while, {.min_seconds = 0, .min_repetitions = 7});
  EXPECT_EQ(by_count.repetitions, 7);
  const Timing by_time = time_runs(run_for_a_while, {.min_seconds = 0.002, .min_repetitions = 1});
  EXPECT_GE(by_time.repetitions * by_time.p95, 0.001);
  EXPECT_GE(by_time.minimum, 100e-6);
}

TEST(TimeRuns, StopsAtTheMostRepetitions) {
  const TimingOptions options{.min_seconds = 1000, .min_repetitions = 1, .max_repetitions = 4};
  EXPECT_EQ(time_runs(run_for_a_while, options).repetitions, 4);
}

TEST(TimeRuns, ShortRunsAreRepeatedWithinASample) {
  int calls = 0;
  const Timing timing = time_runs([&] { ++calls; }, {.min_seconds = 0, .min_repetitions = 5});
  EXPECT_EQ(timing.repetitions, 5);
  EXPECT_GT(calls, 50);
  EXPECT_LT(timing.minimum, 20e-6);
}

TEST(TimeRuns, AnotherClockIsAskedForEverySample) {
  // A run takes a second by this clock, or none for the host.
  int calls = 0;
  const Stopwatch clock{.seconds_of =
                            [](const std::function<void()>& run, int times) {
                              for (int i = 0; i < times; ++i) run();
                              return static_cast<double>(times);
                            },
                        .shortest_sample = 3};
  const Timing timing =
      time_runs([&] { ++calls; }, {.min_seconds = 40, .min_repetitions = 1, .warm_up = 1}, clock);
  EXPECT_EQ(timing.median, 1);
  EXPECT_EQ(timing.repetitions, 10);  // of four runs, the first power of two that is long enough
  EXPECT_EQ(calls, 1 + (1 + 2 + 4) + 10 * 4);  // warm-up, calibration, samples
}

TEST(TimeInterleaved, CandidatesRunInTurnAndEquallyOften) {
  std::string order;
  const auto candidate = [&](char name) {
    return [&order, name] {
      run_for_a_while();
      order += name;
    };
  };
  const std::vector<std::function<void()>> runs{candidate('a'), candidate('b'), candidate('c')};
  const auto timings = time_interleaved(runs, {.min_seconds = 0, .min_repetitions = 3});
  ASSERT_EQ(timings.size(), 3U);
  for (const Timing& timing : timings) EXPECT_EQ(timing.repetitions, 3);
  EXPECT_TRUE(order.ends_with("abcabcabc")) << order;
}

// A clock that says how long each run takes, without waiting.
TEST(TimeInterleaved, CandidatesThatTakeFarTooLongRestWhileOthersGoOn) {
  double seconds = 0;
  const Stopwatch stopwatch{.seconds_of =
                                [&](const std::function<void()>& run, int times) {
                                  run();
                                  return seconds * times;
                                },
                            .shortest_sample = 1e-3};
  const std::vector<std::function<void()>> runs{[&] { seconds = 0.01; }, [&] { seconds = 0.2; },
                                                [&] { seconds = 50; }};
  const auto timings = time_interleaved(
      runs, {.min_seconds = 1, .min_repetitions = 5, .max_repetitions = 1000}, stopwatch);
  EXPECT_NEAR(timings[0].repetitions, 100, 1);  // a second
  EXPECT_NEAR(timings[1].repetitions, 50, 1);   // ten seconds
  EXPECT_EQ(timings[2].repetitions, 1);         // more than ten seconds, which is enough
}

TEST(TimeInterleaved, NoCandidatesNoTimings) {
  EXPECT_TRUE(time_interleaved({}).empty());
}

TEST(TimeInterleaved, OptionsWithoutARepetitionAreRefused) {
  EXPECT_THROW(time_runs(run_for_a_while, {.min_repetitions = 0}), InvalidArgument);
  EXPECT_THROW(time_runs(run_for_a_while, {.min_repetitions = 5, .max_repetitions = 4}),
               InvalidArgument);
}

}  // namespace
}  // namespace strata
