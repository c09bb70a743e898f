// Plans of powers on the GPU of this machine.
#include "strata/plans/gpu/power_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/plans/gpu/support.hpp"

namespace strata::gpu {
namespace {

using I = std::int32_t;

TEST_F(GpuPowerPlanTest, AgreesWithTheReferenceForEveryStrategyAndFormat) {
  for (const char* spec : {"stencil27:12x12x40", "mesh:3000,dim=3,nnzr=15,dof=2",
                           "random:2000,nnzr=9", "arrow:5000", "band:20000,width=7"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    for (const PowerStrategy strategy :
         {PowerStrategy::automatic, PowerStrategy::spmv, PowerStrategy::wavefront}) {
      for (const PowerFormat format : {PowerFormat::automatic, PowerFormat::csr, PowerFormat::sell,
                                       PowerFormat::packed_sell}) {
        GpuPowerOptions options = quick_options();
        options.strategy = strategy;
        options.format = format;
        options.power = 5;
        expect_powers(matrix, options);
      }
    }
  }
}

TEST_F(GpuPowerPlanTest, AgreesForEveryTypeBasisAndNumberOfVectors) {
  const Basis bases[] = {Basis::monomial(), Basis::scaled(20), Basis::chebyshev(-30, 30),
                         Basis::newton({{1, 0}, {2, 3}, {2, -3}, {-1, 0}, {4, 0}, {0.5, 0}}, 15)};
  for (const Basis& basis : bases) {
    for (const int vectors : {1, 2, 5, 8}) {
      GpuPowerOptions options = quick_options();
      options.power = 6;
      options.basis = basis;
      options.vectors = vectors;
      expect_powers(generate<double, I>("stencil7:14x14x40"), options);
      expect_powers(generate<float, std::int64_t>("stencil7:14x14x40"), options);
      expect_powers(generate<std::complex<double>, I>("stencil5:60x60"), options);
      expect_powers(generate<std::complex<float>, I>("stencil5:60x60"), options);
    }
  }
}

TEST_F(GpuPowerPlanTest, AnyPowerAndBlockIsAccepted) {
  const auto matrix = generate<double, I>("stencil9:80x80");
  for (const int power : {1, 2, 3, 7, 16}) {
    for (const int block : {0, 2, 3, 4}) {
      GpuPowerOptions options = quick_options();
      options.power = power;
      options.block = block;
      options.basis = Basis::scaled(10);
      expect_powers(matrix, options);
    }
  }
}

TEST_F(GpuPowerPlanTest, AwkwardMatricesComeOutRight) {
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    const auto matrix = entries.to_csr();
    if (matrix.rows() != matrix.cols()) continue;
    SCOPED_TRACE(name);
    for (const PowerStrategy strategy : {PowerStrategy::automatic, PowerStrategy::wavefront}) {
      GpuPowerOptions options = quick_options();
      options.strategy = strategy;
      options.power = 3;
      expect_powers(matrix, options);
    }
  }
}

TEST_F(GpuPowerPlanTest, TimedPlansAgreeToo) {
  GpuPowerOptions options = quick_options();
  options.confirm = true;
  expect_powers(generate<double, I>("stencil27:30x30x60,shuffle=1"), options);
  expect_powers(generate<float, I>("mesh:40000,dim=2,nnzr=7"), options);
}

TEST_F(GpuPowerPlanTest, NewValuesOnTheSamePattern) {
  const auto matrix = generate<double, I>("stencil27:12x12x40,shuffle=1");
  const auto other = scaled(matrix, 2.0);
  for (const PowerStrategy strategy : {PowerStrategy::spmv, PowerStrategy::wavefront,
                                       PowerStrategy::levels, PowerStrategy::graph}) {
    GpuPowerOptions options = quick_options();
    options.strategy = strategy;
    options.power = 3;
    PowerPlan<double> plan = plan_powers(matrix, options, stream());
    const auto x = test::random_vector<double>(matrix.rows(), 3);
    const auto before = powers_of(plan, x);
    plan.update_values(other, stream());
    const auto after = powers_of(plan, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(after[i], 2 * before[i]);
      EXPECT_EQ(after[2 * x.size() + i], 8 * before[2 * x.size() + i]);
    }
    EXPECT_THROW(plan.update_values(generate<double, I>("stencil5:5x5"), stream()),
                 InvalidArgument);
  }
}

TEST_F(GpuPowerPlanTest, WorksInItsOwnOrderToo) {
  const auto matrix = generate<double, I>("stencil27:12x12x40,shuffle=1");
  GpuPowerOptions options = quick_options();
  options.strategy = PowerStrategy::wavefront;
  options.power = 3;
  const auto x = test::random_vector<double>(matrix.rows(), 3);
  const PowerPlan<double> by_rows = plan_powers(matrix, options, stream());
  const auto expected = powers_of(by_rows, x);
  options.vector_order = VectorOrder::plan;
  const PowerPlan<double> plan = plan_powers(matrix, options, stream());
  ASSERT_EQ(plan.choice().order, by_rows.choice().order);
  const auto of_rows = to_device(std::span<const double>(x), stream());
  DeviceArray<double> start(plan.positions());
  plan.to_plan_order(of_rows.span(), start.span(), stream());
  const Array<double> in_order = to_host(start.span(), stream());
  const auto powers = powers_of(plan, std::vector<double>(in_order.begin(), in_order.end()));
  for (int k = 0; k < 3; ++k) {
    const auto one = to_device(
        std::span<const double>(powers).subspan(k * in_order.size(), in_order.size()), stream());
    DeviceArray<double> back(matrix.rows());
    plan.to_caller_order(one.span(), back.span(), stream());
    EXPECT_TRUE(
        std::ranges::equal(to_host(back.span(), stream()),
                           std::span<const double>(expected).subspan(k * x.size(), x.size())));
  }
}

TEST_F(GpuPowerPlanTest, RefusesWhatHasNoPowersOrDoesNotFit) {
  test::Entries<double, I> entries(3, 5, 1);
  entries.add(0, 4);
  EXPECT_THROW(plan_powers(entries.coo().to_csr(), quick_options(), stream()), InvalidArgument);
  const auto matrix = generate<double, I>("stencil5:20x20");
  GpuPowerOptions options = quick_options();
  options.power = 0;
  EXPECT_THROW(plan_powers(matrix, options, stream()), InvalidArgument);
  options.power = 2;
  const PowerPlan<double> plan = plan_powers(matrix, options, stream());
  auto workspace = plan.make_workspace(stream());
  DeviceArray<double> x(400);
  DeviceArray<double> powers(800);
  EXPECT_THROW(plan.apply(x.subspan(0, 399), powers.span(), workspace, stream()), InvalidArgument);
  EXPECT_THROW(plan.apply(powers.subspan(0, 400), powers.span(), workspace, stream()),
               InvalidArgument);
}

}  // namespace
}  // namespace strata::gpu
