#include "strata/model/persistent_sweep_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace strata {
namespace {

// About an H200 and a 27-point stencil of 4.2 million rows.
PersistentSweepRates rates() {
  return {.memory = 4.4e12,
          .l2 = 8.5e12,
          .load_seconds = 5.2e-6,
          .step_seconds = 2e-6,
          .signal_seconds = 1.4e-6};
}
PersistentSweepCosts costs(int power) {
  return {.power = power,
          .matrix_bytes = 0.92e9,
          .vector_bytes = 33.6e6,
          .gather_bytes = 340e6,
          .tiles = 32556,
          .workers = 132,
          .held_tiles = 1056,
          .dependency_distance = 129.0 * (power - 1)};
}

TEST(SweepModel, TheSlowestOfMemoryCacheAndWaitingCounts) {
  PersistentSweepCosts one = costs(2);
  EXPECT_EQ(predict_persistent_sweep(one, rates()).bound, Bound::synchronisation);
  // (5.2 + 2·2 + 1.4) µs for 247 tiles in 7 of 8 slots.
  EXPECT_NEAR(predict_persistent_sweep(one, rates()).seconds, 373e-6, 5e-6);
  PersistentSweepRates quick = rates();
  quick.load_seconds = quick.step_seconds = quick.signal_seconds = 0.5e-6;
  EXPECT_EQ(predict_persistent_sweep(one, quick).bound, Bound::l2);
  quick.l2 = 1e14;
  EXPECT_EQ(predict_persistent_sweep(one, quick).bound, Bound::memory);
  EXPECT_NEAR(predict_persistent_sweep(one, quick).seconds, (0.92e9 + 3 * 33.6e6) / 4.4e12, 1e-9);
}

TEST(SweepModel, AWindowSmallerThanTheDependencyDistanceIsImpossible) {
  PersistentSweepCosts small = costs(3);
  small.held_tiles = small.dependency_distance;
  EXPECT_TRUE(std::isinf(predict_persistent_sweep(small, rates()).seconds));
}

TEST(SweepModel, AWindowInTheCacheIsReadAgainForEveryPower) {
  PersistentSweepCosts near = costs(4);
  near.held_tiles = 1e9;
  PersistentSweepCosts in_cache = near;
  in_cache.in_l2 = true;
  EXPECT_NEAR(predict_persistent_sweep(in_cache, rates()).seconds -
                  predict_persistent_sweep(near, rates()).seconds,
              3 * 0.92e9 / 8.5e12, 1e-6);
}

}  // namespace
}  // namespace strata
