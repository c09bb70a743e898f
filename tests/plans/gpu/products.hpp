// Product plans on the GPU of this machine against exact steps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "strata/measure/validation.hpp"
#include "strata/plans/gpu/product_plan.hpp"
#include "tests/plans/gpu/support.hpp"

namespace strata::gpu {

class GpuProductPlanTest : public GpuPowerPlanTest {
 protected:
  // Predicts with an imaginary profile of this device, times nothing and asks no tuning store.
  ProductOptions quick_product() {
    const PowerOptions power = quick_options();
    ProductOptions options;
    options.autotune = false;
    options.memory = TuningMemory::ignore;
    options.gpu_profile = power.gpu_profile;
    return options;
  }

  template <Value V, Index I>
  void expect_products(const Csr<V, I>& matrix, const ProductOptions& options) {
    expect_products_of(plan_product(matrix, options, stream()), matrix, options);
  }

  // Several α and β; the old y is NaN where β is 0.
  template <Value V, Index I>
  void expect_products_of(const ProductPlan<V>& plan, const Csr<V, I>& matrix,
                          const ProductOptions& options) {
    SCOPED_TRACE(plan.explain());
    EXPECT_EQ(plan.rows(), matrix.rows());
    EXPECT_EQ(plan.cols(), matrix.cols());
    const Csr<V, I> effective = options.transposed ? transposed(matrix) : matrix;
    auto workspace = plan.make_workspace(stream());
    const auto count = static_cast<std::size_t>(options.vectors);
    const auto x = test::random_vector<V>(static_cast<std::size_t>(effective.cols()) * count, 5);
    const auto y = test::random_vector<V>(static_cast<std::size_t>(effective.rows()) * count, 6);
    for (const auto& [alpha, beta] :
         {std::pair<V, V>{V(1), V(0)}, {V(-2), V(1)}, {V(0.5), V(-3)}}) {
      std::vector<V> start = y;
      if (beta == V{}) std::ranges::fill(start, V(std::numeric_limits<float>::quiet_NaN()));
      const auto on_device = to_device(std::span<const V>(x), stream());
      auto result = to_device(std::span<const V>(start), stream());
      plan.apply(alpha, on_device.span(), beta, result.span(), workspace, stream());
      const Array<V> found = to_host(result.span(), stream());
      const Check check =
          check_step(effective, {.alpha = alpha, .beta = beta}, std::span<const V>(x),
                     std::span<const V>(y), std::span<const V>(found), options.vectors);
      EXPECT_TRUE(check.passed) << alpha << " " << beta << ": " << check.explain();
    }
  }

  // y = Ax, with a workspace of its own.
  template <Value V>
  std::vector<V> applied(const ProductPlan<V>& plan, const std::vector<V>& x) {
    auto workspace = plan.make_workspace(stream());
    return applied(plan, x, workspace);
  }
  template <Value V>
  std::vector<V> applied(const ProductPlan<V>& plan, const std::vector<V>& x,
                         PlanWorkspace<V>& workspace) {
    const auto on_device = to_device(std::span<const V>(x), stream());
    DeviceArray<V> y(Offset{plan.y_rows()} * plan.vectors());
    plan.apply(on_device.span(), y.span(), workspace, stream());
    const Array<V> found = to_host(y.span(), stream());
    return {found.begin(), found.end()};
  }
};

}  // namespace strata::gpu
