#include "strata/plans/any_plan.hpp"

#include <gtest/gtest.h>

#include "strata/measure/validation.hpp"
#include "tests/plans/support.hpp"

namespace strata {
namespace {

TEST(AnyPlan, HasTheTypesOfItsMatrixAndComputes) {
  for (const Precision precision : {Precision::double_real, Precision::single_real,
                                    Precision::double_complex, Precision::single_complex}) {
    for (const int bits : {32, 64}) {
      const AnyMatrix matrix = with_types(precision, bits, []<Value V, Index I>() {
        return AnyMatrix(generate<V, I>("stencil5:30x40"));
      });
      PowerOptions options = test::quick_options();
      options.power = 2;
      ProductOptions product_options;
      product_options.autotune = false;
      product_options.profile = options.profile;
      const AnyProductPlan product = plan_product(matrix, product_options);
      const AnyPowerPlan powers = plan_powers(matrix, options);
      EXPECT_EQ(precision_of(product), precision);
      EXPECT_EQ(precision_of(powers), precision);
      EXPECT_EQ(plan_record(product).choice().format_bytes,
                plan_record(powers).candidates.front().format_bytes);
      std::visit(
          [&]<Value V, Index I>(const ProductPlan<V, I>& plan) {
            const auto& csr = std::get<Csr<V, I>>(matrix);
            const auto x = test::random_vector<V>(static_cast<std::size_t>(csr.cols()), 1);
            std::vector<V> y(x.size());
            auto workspace = plan.make_workspace();
            plan.apply(x, y, workspace);
            EXPECT_TRUE(check_step(csr, {}, x, {}, y).passed);
          },
          product);
    }
  }
}

}  // namespace
}  // namespace strata
