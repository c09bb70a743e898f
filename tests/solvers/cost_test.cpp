// What iterations should cost, against counts by hand.

#include "strata/solvers/cost.hpp"

#include <gtest/gtest.h>

namespace strata::solvers {
namespace {

constexpr DeviceRates kSlowMemory{.bytes_per_second = 1e9, .flops_per_second = 1e15};
constexpr DeviceRates kSlowCores{.bytes_per_second = 1e18, .flops_per_second = 1e9};

TEST(SolverCost, ConjugateGradientsMoveTenVectors) {
  const IterationCost cost =
      predict_iteration({.method = Method::cg}, {.product = 0.5}, 1'000'000, 8, kSlowMemory);
  EXPECT_DOUBLE_EQ(cost.products, 0.5);
  EXPECT_DOUBLE_EQ(cost.vectors, 0.08);
  EXPECT_DOUBLE_EQ(cost.total(), 0.58);
}

TEST(SolverCost, PassesAndFlopsCount) {
  DeviceRates rates = kSlowMemory;
  rates.pass_seconds = 1;
  EXPECT_DOUBLE_EQ(predict_iteration({.method = Method::cg}, {}, 0, 8, rates).vectors, 3);
  EXPECT_DOUBLE_EQ(predict_iteration({.method = Method::cg}, {}, 1'000'000, 8, kSlowCores).vectors,
                   0.01);
}

// The powers of a sweep are shared by its iterations, and so are the passes.
TEST(SolverCost, StepsShareTheirSweep) {
  const ProductTimes times{.product = 1, .powers = 2, .power = 8};
  EXPECT_DOUBLE_EQ(
      predict_iteration({.method = Method::ca_cg, .powers = 8}, times, 0, 8, kSlowMemory).products,
      0.25);
  EXPECT_DOUBLE_EQ(
      predict_iteration({.method = Method::chebyshev, .degree = 8}, times, 0, 8, kSlowMemory)
          .products,
      3.0 / 9);
  EXPECT_DOUBLE_EQ(
      predict_iteration({.method = Method::bicgstab}, times, 0, 8, kSlowMemory).products, 2);
  // Blocks of s columns are read s times less often than columns one by one.
  const double single = vector_work_of({.method = Method::gmres, .restart = 32}).moved;
  double before = single;
  for (const int s : {2, 4, 8}) {
    const double moved =
        vector_work_of({.method = Method::ca_gmres, .restart = 32, .powers = s}).moved;
    EXPECT_LT(moved, before) << s;
    before = moved;
  }
  // (8s + 6) / s
  EXPECT_DOUBLE_EQ(vector_work_of({.method = Method::ca_cg, .powers = 6}).moved, 9);
}

TEST(SolverCost, FusedMethodsSumUpLess) {
  const auto reductions = [](Method method, bool fused) {
    return vector_work_of({.method = method, .powers = 4, .degree = 7, .fused = fused}).reductions;
  };
  EXPECT_DOUBLE_EQ(reductions(Method::cg, false), 2);
  EXPECT_DOUBLE_EQ(reductions(Method::cg, true), 1);
  EXPECT_DOUBLE_EQ(reductions(Method::gmres, false), 4);
  EXPECT_DOUBLE_EQ(reductions(Method::gmres, true), 1);
  EXPECT_DOUBLE_EQ(reductions(Method::bicgstab, true), 2);
  EXPECT_DOUBLE_EQ(reductions(Method::ca_cg, false), 0.5);
  EXPECT_DOUBLE_EQ(reductions(Method::ca_cg, true), 0.25);
  EXPECT_DOUBLE_EQ(reductions(Method::ca_gmres, true), 0.25);
  EXPECT_DOUBLE_EQ(reductions(Method::chebyshev, true), 0.125);
  // 2j + 5 vectors in step j of GMRES, of which the mean of 31 is 16.
  EXPECT_DOUBLE_EQ(vector_work_of({.method = Method::gmres, .restart = 31, .fused = true}).moved,
                   37);
}

}  // namespace
}  // namespace strata::solvers
