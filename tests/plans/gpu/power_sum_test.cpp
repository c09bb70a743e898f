// Sums of powers that kernels add up, single products and other bases of plans on a GPU, against
// the powers that the plans give one by one.

#include <gtest/gtest.h>

#include "tests/plans/gpu/support.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

constexpr PowerStrategy kStrategies[] = {PowerStrategy::spmv, PowerStrategy::wavefront,
                                         PowerStrategy::levels, PowerStrategy::graph};

class GpuPowerSum : public GpuPowerPlanTest {
 protected:
  template <Value V>
  Array<V> sum_of(const PowerPlan<V>& plan, std::span<const V> x, std::span<const V> c,
                  typename PowerPlan<V>::Workspace& workspace) {
    const auto on_device = to_device(x, stream());
    const std::vector<V> poison(x.size(), V(std::numeric_limits<float>::quiet_NaN()));
    auto sum = to_device(std::span<const V>(poison), stream());
    plan.apply_sum(on_device.span(), c, sum.span(), workspace, stream());
    stream().synchronize();
    plan.require_ended(workspace, stream());
    return to_host(std::as_const(sum).span(), stream());
  }

  template <Value V>
  void expect_sums(const char* spec, int turn) {
    const auto matrix = generate<V, I>(spec);
    for (const PowerStrategy strategy : kStrategies) {
      SCOPED_TRACE(testing::Message() << spec << " " << name_of(strategy));
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.power = std::array{5, 1, 9}[turn % 3];
      options.vectors = std::array{1, 3}[turn % 2];
      options.vector_order = turn % 4 < 2 ? VectorOrder::caller : VectorOrder::plan;
      options.basis = test::basis_number(turn++);
      const auto plan = plan_powers(matrix, options, stream());
      const auto each = static_cast<std::size_t>(plan.vector_rows() * plan.vectors());
      const auto x = test::random_vector<V>(each, 3);
      const auto c = test::random_vector<V>(static_cast<std::size_t>(options.power) + 1, 4);
      const std::vector<V> powers = powers_of(plan, x);
      auto workspace = plan.make_workspace_for_sum(stream());
      const Array<V> sum = sum_of<V>(plan, x, c, workspace);
      test::expect_sum_of_powers(sum, x, c, powers);
      // With other coefficients, which graphs that were recorded do not have.
      const auto other = test::random_vector<V>(c.size(), 5);
      const Array<V> another = sum_of<V>(plan, x, other, workspace);
      const Array<V> again = sum_of<V>(plan, x, c, workspace);
      EXPECT_NE(another, sum);
      EXPECT_EQ(again, sum);
    }
  }
};

TEST_F(GpuPowerSum, SumsArePowersAddedUp) {
  int turn = 0;
  for (const char* spec : {"stencil7:10x10x30,shuffle=1", "random:1000,nnzr=9", "arrow:900"}) {
    expect_sums<double>(spec, turn++);
    expect_sums<float>(spec, turn++);
    expect_sums<std::complex<double>>(spec, turn++);
    expect_sums<std::complex<float>>(spec, turn++);
  }
}

// Every kernel that plans of powers run.
TEST_F(GpuPowerSum, SumsAreTheSameInEveryFormat) {
  for (const char* spec : {"stencil7:9x9x9", "mesh:900,dim=3,nnzr=15", "arrow:900"}) {
    const auto matrix = generate<double, I>(spec);
    const auto x = test::random_vector<double>(static_cast<std::size_t>(matrix.rows()), 3);
    const std::vector<double> c{0.5, -1, 0.25, 2};
    const auto expected = test::expected_powers(matrix, Basis::scaled(20), 3, x, 1);
    for (const Format format : {Format::csr, Format::ell, Format::sell, Format::packed_sell}) {
      for (const StoredValues values : {StoredValues::full, StoredValues::all}) {
        if (format == Format::ell && std::string_view(spec).starts_with("arrow")) continue;
        SCOPED_TRACE(testing::Message() << spec << " " << name_of(format));
        PowerOptions options = quick_options();
        options.strategy = PowerStrategy::spmv;
        options.format = format;
        if (format == Format::packed_sell) options.values = values;
        options.power = 3;
        options.basis = Basis::scaled(20);
        const auto plan = plan_powers(matrix, options, stream());
        auto workspace = plan.make_workspace_for_sum(stream());
        const Array<double> sum = sum_of<double>(plan, x, c, workspace);
        for (std::size_t i = 0; i < x.size(); ++i) {
          double value = c[0] * x[i], size = 1;
          for (std::size_t k = 1; k < c.size(); ++k) {
            const std::size_t at = (k - 1) * x.size() + i;
            value += c[k] * expected.powers[at];
            size += std::abs(c[k]) * expected.magnitudes[at];
          }
          ASSERT_NEAR(sum[i], value, 1e-13 * size) << "element " << i;
        }
      }
    }
  }
}

TEST_F(GpuPowerSum, OtherBasesSingleProductsAndFewerPowersNeedNoOtherPlan) {
  const auto matrix = generate<double, I>("stencil7:10x10x30,shuffle=1");
  for (const PowerStrategy strategy : kStrategies) {
    for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
      SCOPED_TRACE(testing::Message() << name_of(strategy));
      PowerOptions options = quick_options();
      options.strategy = strategy;
      options.vector_order = order;
      options.power = 5;
      auto plan = plan_powers(matrix, options, stream());
      options.basis = Basis::chebyshev(-1, 13);
      const auto other = plan_powers(matrix, options, stream());
      const auto each = static_cast<std::size_t>(plan.vector_rows());
      const auto x = test::random_vector<double>(each, 3);
      const auto on_device = to_device(std::span<const double>(x), stream());
      const std::vector<double> powers = powers_of(plan, x);
      auto workspace = plan.make_workspace(stream());
      const auto product = [&] {
        DeviceArray<double> y(std::ssize(x));
        plan.multiply(on_device.span(), y.span(), workspace, stream());
        const auto found = to_host(std::as_const(y).span(), stream());
        return std::vector<double>(found.begin(), found.end());
      };
      EXPECT_TRUE(std::ranges::equal(product(), std::span(powers).first(each)));
      for (const int count : {1, 3, 4, 5}) {
        DeviceArray<double> some(count * std::ssize(x));
        plan.apply_first(count, on_device.span(), some.span(), workspace, stream());
        const auto found = to_host(std::as_const(some).span(), stream());
        EXPECT_TRUE(std::ranges::equal(found, std::span(powers).first(found.size()))) << count;
      }
      EXPECT_THROW(plan.set_basis(Basis::newton({1.0})), InvalidArgument);
      plan.set_basis(options.basis);
      EXPECT_EQ(powers_of(plan, x), powers_of(other, x));
      EXPECT_TRUE(std::ranges::equal(product(), std::span(powers).first(each)));
      EXPECT_NE(plan.explain().find("Chebyshev on [-1, 13]"), std::string::npos);
    }
  }
}

TEST_F(GpuPowerSum, WhatDoesNotFitIsRefused) {
  const auto matrix = generate<double, I>("stencil5:20x20,shuffle=1");
  PowerOptions options = quick_options();
  options.power = 3;
  auto plan = plan_powers(matrix, options, stream());
  DeviceArray<double> x(400), sum(400), few(399);
  const std::vector<double> c(4);
  auto workspace = plan.make_workspace_for_sum(stream());
  const auto from = std::as_const(x).span();
  EXPECT_NO_THROW(plan.apply_sum(from, c, sum.span(), workspace, stream()));
  EXPECT_THROW(plan.apply_sum(from, std::span(c).first(3), sum.span(), workspace, stream()),
               InvalidArgument);
  EXPECT_THROW(plan.apply_sum(from, c, x.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.apply_sum(from, c, few.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.multiply(from, few.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.apply_first(4, from, sum.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.apply_first(0, from, sum.span(), workspace, stream()), InvalidArgument);
  PowerPlan<double> empty;
  EXPECT_THROW(empty.apply_sum(from, c, sum.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(empty.multiply(from, sum.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(empty.set_basis(Basis::monomial()), InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
