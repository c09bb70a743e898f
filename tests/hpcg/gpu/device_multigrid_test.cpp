// The preconditioner and the benchmark of HPCG on a GPU.
#include "strata/hpcg/gpu/device_multigrid.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "strata/hpcg/gpu/benchmark.hpp"
#include "strata/machine/default_profile.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

using hpcg::Level;
using hpcg::Multigrid;
using hpcg::Row;

class GpuMultigrid : public test::GpuTest {};

// Backwards, with padded rows among them.
PaddedOrder<Row> uneven_order(Row rows) {
  Array<Row> row_at;
  for (Row row = rows - 1; row >= 0; --row) {
    row_at.push_back(row);
    if (row % 5 == 0) row_at.push_back(PaddedOrder<Row>::kEmpty);
  }
  return PaddedOrder<Row>(rows, std::move(row_at));
}

TEST_F(GpuMultigrid, IsThatOfTheProcessorAndTheSameEveryTime) {
  Stream stream;
  for (const Grid& grid : {Grid({8, 8, 8}), Grid({12, 10, 7}), Grid({16, 24, 8})}) {
    const std::vector<Level> levels = hpcg::make_levels(grid);
    const PaddedOrder<Row> order = uneven_order(levels[0].matrix.rows());
    for (const StoredValues values : {StoredValues::full, StoredValues::all}) {
      Multigrid host(levels, order, {.values = values, .slice_height = 32});
      DeviceMultigrid device(host, order, stream);
      const auto of_rows = test::random_vector<double>(levels[0].matrix.rows(), 1);
      std::vector<double> r(order.padded_rows()), expected(r.size());
      order.gather<double>(of_rows, r, 1);
      host.apply(r, expected);
      const auto device_r = to_device(std::span<const double>(r), stream);
      DeviceArray<double> z(device_r.size());
      device.apply(device_r.span(), z.span(), stream);
      const auto found = to_host(z.span(), stream);
      for (std::size_t i = 0; i < r.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-14) << i;
      device.apply(device_r.span(), z.span(), stream);
      EXPECT_EQ(to_host(z.span(), stream), found);
    }
  }
}

TEST_F(GpuMultigrid, TakesOverAnotherFinestLevel) {
  Stream stream;
  const std::vector<Level> levels = hpcg::make_levels(Grid({8, 8, 8}));
  const auto order = PaddedOrder<Row>::identity(512);
  Multigrid host(levels, order, {.slice_height = 32});
  DeviceMultigrid device(host, order, stream);
  hpcg::Matrix modified = levels[0].matrix;
  for (double& value : modified.mutable_values()) value *= value > 0 ? 100 : 1;
  host.replace_finest(modified);
  device.replace_finest(host, stream);
  const auto r = test::random_vector<double>(512, 1);
  std::vector<double> expected(512);
  host.apply(r, expected);
  const auto device_r = to_device(std::span<const double>(r), stream);
  DeviceArray<double> z(512);
  device.apply(device_r.span(), z.span(), stream);
  const auto found = to_host(z.span(), stream);
  for (std::size_t i = 0; i < r.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-15) << i;
}

TEST_F(GpuMultigrid, TheBenchmarkPassesItsChecks) {
  Stream stream;
  const GpuProfile profile = default_profile(device_properties(current_device()));
  const hpcg::Result result =
      run_hpcg({.grid = Grid({16, 16, 16}), .min_seconds = 0}, profile, stream);
  ASSERT_EQ(result.checks.size(), 6U);
  for (const hpcg::Check& check : result.checks) EXPECT_TRUE(check.passed) << check.name;
  EXPECT_EQ(result.grids.size(), 4U);
  EXPECT_LE(result.residual, result.reference_residual);
  EXPECT_EQ(result.parts.size(), 9U);
  EXPECT_GT(result.rating, 0);
}

}  // namespace
}  // namespace strata::gpu
