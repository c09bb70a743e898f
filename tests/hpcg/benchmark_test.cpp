#include "strata/hpcg/benchmark.hpp"

#include <cmath>
#include <stdexcept>

#include "strata/base/error.hpp"
#include "strata/machine/default_profile.hpp"

namespace strata::hpcg {
namespace {

Options small(const Grid& grid, const MachineProfile& profile) {
  return {.grid = grid, .min_seconds = 0, .profile = &profile};
}

const Check& named(const Result& result, const std::string& name) {
  for (const Check& check : result.checks) {
    if (check.name == name) return check;
  }
  throw std::runtime_error("no check " + name);
}

class BenchmarkOnGrid : public testing::TestWithParam<Grid> {};
INSTANTIATE_TEST_SUITE_P(All, BenchmarkOnGrid,
                         testing::Values(Grid({16, 16, 16}), Grid({24, 16, 32}), Grid({10, 12, 9}),
                                         Grid({2, 2, 2})));

TEST_P(BenchmarkOnGrid, PassesTheChecksOfTheSpecification) {
  const MachineProfile profile = default_profile();
  const Result result = run(small(GetParam(), profile));
  ASSERT_EQ(result.checks.size(), 6U);
  for (const Check& check : result.checks) EXPECT_TRUE(check.passed) << check.name;
  EXPECT_TRUE(result.passed());
  EXPECT_LE(named(result, "iterations, large diagonal, plain").value, 12);
  EXPECT_GE(named(result, "iterations, large diagonal, plain").value, 2);
  EXPECT_LE(named(result, "iterations, large diagonal, preconditioned").value, 2);
  EXPECT_LE(result.residual, result.reference_residual);
  EXPECT_LE(result.true_residual, 2 * result.reference_residual + 1e-13);
  EXPECT_EQ(result.sets, 2);
}

TEST(Benchmark, HasTheSameResidualForAnyNumberOfThreads) {
  const MachineProfile profile = default_profile();
  double residual = 0;
  for (const int threads : {1, 2, 3}) {
    Options options = small(Grid({32, 16, 16}), profile);
    options.threads = threads;
    const Result result = run(options);
    if (threads == 1) residual = result.residual;
    EXPECT_EQ(result.residual, residual);
    EXPECT_EQ(result.threads, threads);
  }
}

TEST(Benchmark, CountsFlopsAsTheSpecificationDoes) {
  // Two levels with 100 and 10 entries, 20 rows, 50 iterations.
  const Flops flops = flops_of(50, 20, {100, 10});
  EXPECT_EQ(flops.dots, 151 * 40);
  EXPECT_EQ(flops.updates, 151 * 40);
  EXPECT_EQ(flops.products, 51 * 200);
  EXPECT_EQ(flops.multigrid, 50 * (1000 + 40));
  EXPECT_EQ(flops.total(), flops.dots + flops.updates + flops.products + flops.multigrid);
}

TEST(Benchmark, RatesTheIterationsThatTheReferenceNeeds) {
  const MachineProfile profile = default_profile();
  const Result result = run(small(Grid({16, 16, 16}), profile));
  const double per_set = result.flops.total();
  EXPECT_NEAR(result.raw, per_set * result.sets / result.seconds, 1e-6 * result.raw);
  EXPECT_NEAR(result.converged, result.raw * result.reference_iterations / result.iterations,
              1e-6 * result.raw);
  EXPECT_LT(result.rating, result.converged);
  EXPECT_LT(result.done_flops, per_set);
}

TEST(Benchmark, PredictsAndMeasuresTheSameParts) {
  const MachineProfile profile = default_profile();
  const Result result = run(small(Grid({16, 16, 16}), profile));
  ASSERT_EQ(result.grids.size(), 4U);
  // The product, vectors, and for each level smoothing and, but for the coarsest, transfer.
  ASSERT_EQ(result.parts.size(), 2U + 4 + 3);
  double measured = 0;
  for (const Part& part : result.parts) {
    EXPECT_GT(part.bytes, 0) << part.name;
    EXPECT_GT(part.predicted_seconds, 0) << part.name;
    EXPECT_GT(part.measured_seconds, 0) << part.name;
    measured += part.measured_seconds;
  }
  EXPECT_LE(measured, 1.01 * result.seconds / result.sets / result.iterations);
  EXPECT_EQ(result.parts[0].name, "product");
  // Values of 8 bytes once; x and y, which is loaded before it is stored, three times.
  EXPECT_NEAR(result.parts[0].bytes / static_cast<double>(8 * result.entries[0] + 24 * result.rows),
              1, 0.2);
}

TEST(Benchmark, ReportsPhasesAndStopsWhenAsked) {
  const MachineProfile profile = default_profile();
  Options options = small(Grid({16, 16, 16}), profile);
  int phases = 0;
  options.progress = [&](std::string_view) { ++phases; };
  run(options);
  EXPECT_GE(phases, 6);
  options.poll = [] { throw std::runtime_error("stopped"); };
  EXPECT_THROW(run(options), std::runtime_error);
}

TEST(Benchmark, RefusesGridsThatAreTooSmall) {
  const MachineProfile profile = default_profile();
  EXPECT_THROW(run(small(Grid({16, 16, 1}), profile)), InvalidArgument);
}

}  // namespace
}  // namespace strata::hpcg
