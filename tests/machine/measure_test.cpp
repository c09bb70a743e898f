#include "strata/machine/measure.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/machine/internal/pinned_team.hpp"

namespace strata::test {
namespace {

constexpr Offset kMiB = 1 << 20;

// Every speed is possible, but not every profile.
void expect_sensible(const MachineProfile& profile) {
  const StreamRates& stream = profile.stream;
  for (const double rate :
       {stream.copy, stream.scale, stream.add, stream.triad, stream.dot,
        profile.hockney.bytes_per_second, profile.fork_join_seconds, profile.flops_per_second}) {
    EXPECT_GT(rate, 0);
  }
  EXPECT_EQ(profile.handoff_seconds > 0, profile.cores > 1);
  EXPECT_GE(profile.hockney.overhead_seconds, 0);
  for (const BandwidthPoint& point : profile.read) EXPECT_GT(point.bytes_per_second, 0);
  EXPECT_EQ(profile.read.front().threads, 1);
  EXPECT_EQ(profile.read.back().threads, profile.cores);
  EXPECT_EQ(profile.plateaus.back().threads, profile.cores);
  EXPECT_GT(profile.spread, 0.9);  // a tenth of the samples is faster than the first decile
  EXPECT_EQ(profile.fingerprint, reported_profile().fingerprint);
  EXPECT_EQ(profile.measured_at.size(), std::string("2026-01-02T03:04:05Z").size());
}

TEST(Measure, QuicklyWithOneThreadAndWithAll) {
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(threads);
    const MachineProfile profile =
        measure_machine({.seconds = 0.02, .threads = threads, .largest_bytes = 4 * kMiB});
    EXPECT_EQ(profile.cores, threads);
    expect_sensible(profile);
    for (const BandwidthPoint& point : profile.read) {
      EXPECT_TRUE(point.threads == 1 || point.threads == threads);
    }
  }
}

TEST(Measure, WorkingSetsGrowFromTheSmallestShareToTheLargest) {
  const MachineProfile profile =
      measure_machine({.seconds = 0.02, .threads = 2, .largest_bytes = 5 * kMiB});
  for (std::size_t i = 0; i < profile.read.size(); ++i) {
    const BandwidthPoint& point = profile.read[i];
    const bool first = i == 0 || profile.read[i - 1].threads != point.threads;
    const bool last = i + 1 == profile.read.size() || profile.read[i + 1].threads != point.threads;
    if (first) {
      EXPECT_EQ(point.bytes, 16384 * point.threads);
    } else {
      EXPECT_GT(point.bytes, profile.read[i - 1].bytes);
    }
    if (last) {
      EXPECT_EQ(point.bytes, 5 * kMiB);
    }
  }
}

TEST(Measure, ALongerMeasurementTriesMoreThreadCounts) {
  const MachineProfile profile =
      measure_machine({.seconds = 3, .threads = 3, .largest_bytes = kMiB / 4});
  std::vector<int> counts;
  for (const Plateau& plateau : profile.plateaus) {
    if (counts.empty() || counts.back() != plateau.threads) counts.push_back(plateau.threads);
  }
  EXPECT_EQ(counts, (std::vector{1, 2, 3}));
}

TEST(Measure, ProgressRisesAndMayGiveUp) {
  double before = 0;
  MeasureOptions options{.seconds = 0.02, .threads = 2, .largest_bytes = kMiB};
  options.progress = [&](std::string_view what, double share_done) {
    EXPECT_FALSE(what.empty());
    EXPECT_GE(share_done, before);
    EXPECT_LE(share_done, 1);
    before = share_done;
  };
  measure_machine(options);
  EXPECT_GT(before, 0.5);
  options.progress = [](std::string_view, double) { throw std::runtime_error("enough"); };
  EXPECT_THROW(measure_machine(options), std::runtime_error);
}

TEST(Measure, InsideAParallelRegionThereIsOneThread) {
  run_on_threads(2, [](int thread, int) {
    if (thread == 0) {
      const MachineProfile profile =
          measure_machine({.seconds = 0.02, .threads = 2, .largest_bytes = kMiB});
      EXPECT_EQ(profile.cores, 1);
      expect_sensible(profile);
    }
  });
}

// A profile of 4 threads on 4 processors with little spread.
MeasuringConditions good_conditions() {
  return {
      .threads = 4, .processors = {.usable = 4, .quota = 0}, .bound = false, .largest_spread = 1.5};
}

void expect_doubts(const MeasuringConditions& conditions, const std::string& words,
                   double spread = 1.1) {
  MachineProfile profile;
  profile.cores = 4;
  profile.spread = spread;
  EXPECT_NE(doubts_about(profile, conditions).find(words), std::string::npos)
      << doubts_about(profile, conditions);
}

TEST(Measure, OfAMachineThatIsFreeRaisesNoDoubts) {
  MachineProfile profile;
  profile.cores = 4;
  profile.spread = 1.5;
  MeasuringConditions conditions = good_conditions();
  EXPECT_EQ(doubts_about(profile, conditions), "");
  conditions.processors = {.usable = 64, .quota = 4};
  EXPECT_EQ(doubts_about(profile, conditions), "");
}

TEST(Measure, OfLessThanTheMachineRaisesDoubts) {
  MeasuringConditions conditions = good_conditions();
  conditions.bound = true;
  expect_doubts(conditions, "bound");
  conditions = good_conditions();
  conditions.threads = 8;
  expect_doubts(conditions, "4 of 8 threads");
  conditions = good_conditions();
  conditions.processors.usable = 2;
  expect_doubts(conditions, "4 threads share 2 processors");
  conditions = good_conditions();
  conditions.processors.quota = 3.5;
  expect_doubts(conditions, "the time of 3.5 processors");
  expect_doubts(good_conditions(), "busy", 1.6);
}

TEST(Measure, OfThreadsThatReadSlowerThanOneRaisesDoubts) {
  MachineProfile profile;
  profile.cores = 4;
  profile.spread = 1;
  profile.plateaus = {
      {1, 1 << 20, 50e9}, {1, 1 << 30, 15e9}, {4, 1 << 20, 160e9}, {4, 1 << 30, 60e9}};
  EXPECT_EQ(doubts_about(profile, good_conditions()), "");
  profile.plateaus.back().bytes_per_second = 0.3e9;
  EXPECT_EQ(doubts_about(profile, good_conditions()),
            "4 threads read 0.3 GB/s from memory, and one alone 15.0");
}

// One processor for each thread, as OMP_PROC_BIND leaves them.
TEST(Measure, KnowsThreadsThatAreBound) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(3, &one);
  cpu_set_t two = one;
  CPU_SET(5, &two);
  EXPECT_TRUE(detail::is_bound({one, one}, 2));
  EXPECT_TRUE(detail::is_bound({two, one}, 2));
  EXPECT_FALSE(detail::is_bound({two, two}, 2));
  EXPECT_FALSE(detail::is_bound({one}, 1));
  cpu_set_t unknown;
  CPU_ZERO(&unknown);
  EXPECT_FALSE(detail::is_bound({unknown, two}, 2));
}

// A thread that the program has bound stays where it was.
TEST(Measure, LeavesThreadsWhereTheyWere) {
  const int threads = usable_processors();
  const auto before = detail::masks_of_team(threads);
  {
    const detail::PinnedTeam pinned(threads);
  }
  const auto after = detail::masks_of_team(threads);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(CPU_EQUAL(&before[i], &after[i]));
}

TEST(Measure, NonsenseIsRefused) {
  EXPECT_THROW(measure_machine({.seconds = 0}), InvalidArgument);
  EXPECT_THROW(measure_machine({.seconds = -1}), InvalidArgument);
  EXPECT_THROW(measure_machine({.seconds = 1, .threads = -1}), InvalidArgument);
}

}  // namespace
}  // namespace strata::test
