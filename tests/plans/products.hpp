// Product plans against exact steps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "strata/measure/validation.hpp"
#include "strata/plans/product_plan.hpp"
#include "tests/plans/support.hpp"

namespace strata::test {

// Options that predict with an imaginary machine and do not time the candidates.
inline ProductOptions quick_product() {
  static const MachineProfile profile = imaginary_machine();
  ProductOptions options;
  options.autotune = false;
  options.profile = &profile;
  return options;
}

// Several α and β; the old y is NaN where β is 0.
template <Value V, Index I>
void expect_products_of(const ProductPlan<V, I>& plan, const Csr<V, I>& matrix,
                        const ProductOptions& options) {
  SCOPED_TRACE(plan.explain());
  EXPECT_EQ(plan.rows(), matrix.rows());
  EXPECT_EQ(plan.cols(), matrix.cols());
  const Csr<V, I> effective = options.transposed ? transposed(matrix) : matrix;
  auto workspace = plan.make_workspace();
  const auto count = static_cast<std::size_t>(options.vectors);
  const auto x = random_vector<V>(static_cast<std::size_t>(effective.cols()) * count, 5);
  const auto y = random_vector<V>(static_cast<std::size_t>(effective.rows()) * count, 6);
  const bool in_plan_order =
      options.vector_order == VectorOrder::plan && !plan.order().is_identity();
  for (const auto& [alpha, beta] :
       {std::pair<V, V>{V(1), V(0)}, {V(-2), V(1)}, {V(0.5), V(-3)}, {V(0), V(1)}}) {
    SCOPED_TRACE(testing::Message() << alpha << " " << beta);
    std::vector<V> found = y;
    if (beta == V{}) std::ranges::fill(found, V(std::numeric_limits<float>::quiet_NaN()));
    if (in_plan_order) {
      std::vector<V> plan_x(static_cast<std::size_t>(plan.x_rows()) * count);
      std::vector<V> plan_y(static_cast<std::size_t>(plan.y_rows()) * count);
      plan.to_plan_order(x, plan_x);
      plan.to_plan_order(found, plan_y);
      plan.apply(alpha, plan_x, beta, plan_y, workspace);
      plan.to_caller_order(plan_y, found);
    } else {
      plan.apply(alpha, x, beta, found, workspace);
    }
    const Check check =
        check_step(effective, {.alpha = alpha, .beta = beta}, std::span<const V>(x),
                   std::span<const V>(y), std::span<const V>(found), options.vectors);
    EXPECT_TRUE(check.passed) << check.explain();
  }
}

template <Value V, Index I>
void expect_products(const Csr<V, I>& matrix, const ProductOptions& options) {
  expect_products_of(plan_product(matrix, options), matrix, options);
}

}  // namespace strata::test
