#include "strata/model/power_model.hpp"

#include <gtest/gtest.h>

#include "strata/base/error.hpp"
#include "strata/model/balance.hpp"

namespace strata {
namespace {

TEST(PowerModel, SpeedUpsAreThoseOfTheThesis) {
  // Table 4.5, from the bandwidths of cache and memory in Table 4.2; the last digit may differ by
  // one, for those bandwidths are rounded.
  const struct {
    double ratio;
    std::vector<double> speed_ups;
  } table[] = {
      {1950.0 / 491, {1.00, 1.60, 1.99, 2.28, 2.49, 2.65, 2.79, 2.89, 2.98, 3.06}},
      {5286.0 / 833, {1.00, 1.73, 2.28, 2.72, 3.07, 3.36, 3.60, 3.80, 3.98, 4.13}},
      {5325.0 / 1778, {1.00, 1.50, 1.80, 2.00, 2.14, 2.25, 2.33, 2.40, 2.45, 2.50}},
      {9715.0 / 3883, {1.00, 1.43, 1.67, 1.82, 1.92, 2.00, 2.06, 2.11, 2.14, 2.18}},
  };
  for (const auto& [ratio, expected] : table) {
    SCOPED_TRACE(ratio);
    const std::vector<SpeedUp> computed = speed_up_table(ratio, 10);
    ASSERT_EQ(computed.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(computed[i].power, static_cast<int>(i) + 1);
      EXPECT_NEAR(computed[i].without_overlap, expected[i], 0.011) << "p = " << i + 1;
    }
  }
}

TEST(PowerModel, TheExampleOfTheThesisComesOut) {
  // band-27 on an L40, p = 5, C = 8: (4.9), (4.10) and (4.11).
  const double balance = sell_balance(8, 27);
  EXPECT_NEAR(833e9 / balance, 132.0e9, 0.1e9);
  EXPECT_NEAR(5286e9 / balance, 837.7e9, 0.7e9);
  EXPECT_NEAR(blocked_performance(5, 132.0e9, 837.7e9), 404.8e9, 0.1e9);
}

TEST(PowerModel, WithoutOverlapItIsTheFormulaOfTheThesis) {
  const double bytes = 1.3e9;  // of one product
  const double flops = 2e8;
  const Rates rates{.memory = 50e9, .cache = 120e9};
  for (const int power : {1, 2, 5, 8}) {
    const SweepCosts costs{
        .memory_bytes = bytes, .cache_bytes = (power - 1) * bytes, .flops = power * flops};
    const double expected =
        blocked_performance(power, flops * rates.memory / bytes, flops * rates.cache / bytes);
    EXPECT_NEAR(predict_without_overlap(costs, rates).flops_per_second(costs) / expected, 1, 1e-12);
  }
}

TEST(PowerModel, OverlapNeverMakesItSlower) {
  const Rates rates{.memory = 50e9, .cache = 120e9, .synchronisation_seconds = 1e-6, .flops = 20e9};
  for (const double cache_bytes : {0.0, 1e8, 5e9}) {
    for (const int synchronisations : {0, 1000, 1000000}) {
      const SweepCosts costs{1e9, cache_bytes, 3e8, synchronisations};
      const double summed = predict_without_overlap(costs, rates).seconds;
      const double overlapped = predict_with_overlap(costs, rates).seconds;
      EXPECT_LE(overlapped, summed);
      EXPECT_GE(4 * overlapped, summed);  // no part is longer than the longest
    }
  }
}

TEST(PowerModel, TheLongestPartIsTheBound) {
  const auto bounds = [](const SweepCosts& costs) {
    const Rates rates{.memory = 1, .cache = 4, .synchronisation_seconds = 1, .flops = 2};
    const auto summed = predict_without_overlap(costs, rates);
    const auto overlapped = predict_with_overlap(costs, rates);
    EXPECT_EQ(summed.bound, overlapped.bound);
    return overlapped;
  };
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 20, .flops = 5}).bound, Bound::memory);
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 20, .flops = 5}).seconds, 10);
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 50, .flops = 5}).bound, Bound::cache);
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 50, .flops = 5}).seconds, 15);
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 50, .flops = 50}).bound, Bound::compute);
  EXPECT_EQ(bounds({.memory_bytes = 10, .cache_bytes = 50, .flops = 50}).seconds, 25);
  EXPECT_EQ(bounds({.memory_bytes = 10, .synchronisations = 11}).bound, Bound::synchronisation);
  EXPECT_EQ(bounds({.memory_bytes = 10, .synchronisations = 11}).seconds, 11);
}

TEST(PowerModel, WithOverlapTheRatioIsTheCeiling) {
  const std::vector<SpeedUp> table = speed_up_table(2.5, 4);
  EXPECT_EQ(table[0].with_overlap, 1);
  EXPECT_EQ(table[1].with_overlap, 2);
  EXPECT_EQ(table[2].with_overlap, 2.5);
  EXPECT_EQ(table[3].with_overlap, 2.5);
  for (const SpeedUp& line : table) {
    const Rates rates{.memory = 1, .cache = 2.5};
    const SweepCosts costs{.memory_bytes = 1, .cache_bytes = line.power - 1.0};
    EXPECT_DOUBLE_EQ(line.power / predict_with_overlap(costs, rates).seconds, line.with_overlap);
  }
}

TEST(PowerModel, SmallPiecesNeverReachTheFullBandwidth) {
  // Table 4.6, L40: 1.06 µs and 5205 GB/s; a piece of B·T bytes runs at half the bandwidth.
  const double overhead = 1.06e-6;
  const double full = 5205e9;
  EXPECT_DOUBLE_EQ(with_latency(full, overhead, full * overhead), full / 2);
  EXPECT_NEAR(with_latency(full, overhead, 8 << 20), 3138e9, 2e9);
  EXPECT_NEAR(with_latency(full, overhead, 1e15), full, 1e6);
  EXPECT_DOUBLE_EQ(with_latency(full, 0, 1), full);
}

TEST(PowerModel, PiecesPayForTheirSynchronisations) {
  // 100 pieces of memory and 300 of cache, each behind a synchronisation, one after another.
  const Rates rates{.memory = 1e9, .cache = 4e9, .synchronisation_seconds = 1e-6};
  const SweepCosts costs{
      .memory_bytes = 1e6, .cache_bytes = 3e6, .flops = 1, .synchronisations = 400};
  EXPECT_NEAR(predict_without_overlap(costs, with_latency(rates, 1e4)).seconds,
              predict_without_overlap(costs, rates).seconds, 1e-12);
}

TEST(PowerModel, ImpossibleMachinesAreRefused) {
  EXPECT_THROW(blocked_performance(0, 1, 1), InvalidArgument);
  EXPECT_THROW(blocked_performance(1, 0, 1), InvalidArgument);
  EXPECT_THROW(speed_up_table(0, 3), InvalidArgument);
  EXPECT_THROW(with_latency(1.0, 1.0, 0.0), InvalidArgument);
  EXPECT_THROW(predict_with_overlap({}, {}), InvalidArgument);
  EXPECT_THROW(predict_without_overlap({}, {.memory = 1, .cache = 1, .flops = -1}),
               InvalidArgument);
}

}  // namespace
}  // namespace strata
