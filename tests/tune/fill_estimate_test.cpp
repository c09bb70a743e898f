#include "strata/tune/fill_estimate.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/matrix_folder.hpp"

namespace strata {
namespace {

namespace fs = std::filesystem;
using I = std::int32_t;
using Matrix = Csr<double, I>;

constexpr Offset kEverything = Offset{1} << 40;

double exact_fill(const Matrix& matrix, BlockSize block) {
  return Bcsr<double, I>::footprint_of(matrix, {.block_rows = block.rows, .block_cols = block.cols})
      .fill();
}

const std::vector<std::string> kSpecs{
    "stencil5:70x90",      "stencil7:24x24x24",  "stencil27:20x20x20",
    "band:20000,width=9",  "fem:20x20,degree=3", "mesh:6000,dim=3,nnzr=12,dof=3,shuffle=1",
    "random:20000,nnzr=9", "rmat:13,edges=8",    "arrow:20000",
    "graphene:60x60"};

TEST(FillEstimate, IsExactWhenEverythingIsSampled) {
  for (const std::string& spec : kSpecs) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<double, I>(spec);
    const FillEstimate estimate = estimate_fill(matrix.pattern(), {.block_rows = kEverything});
    for (const BlockSize block : all_block_sizes()) {
      const double exact = exact_fill(matrix, block);
      EXPECT_NEAR(estimate.at(block).fill, exact, 1e-12 * exact) << block.rows << "x" << block.cols;
      EXPECT_TRUE(estimate.at(block).exact());
      EXPECT_EQ(estimate.at(block).standard_error, 0);
    }
  }
}

TEST(FillEstimate, CountsAwkwardMatricesExactly) {
  for (const auto& [name, entries] : test::awkward_matrices<double, I>()) {
    SCOPED_TRACE(name);
    const auto matrix = entries.to_csr();
    const FillEstimate estimate = estimate_fill(matrix.pattern(), {.block_rows = kEverything});
    for (const BlockSize block : all_block_sizes()) {
      const double exact = exact_fill(matrix, block);
      EXPECT_NEAR(estimate.at(block).fill, exact, 1e-12 * exact) << block.rows << "x" << block.cols;
    }
  }
}

// How often the stated interval holds what it promises.
struct Coverage {
  int cases = 0;
  int missed = 0;
  double widest = 0;  // half of an interval, by the exact fill

  // One sample per seed 1 … seeds.
  void add(const Matrix& matrix, std::uint64_t seeds) {
    std::vector<FillEstimate> estimates;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      estimates.push_back(estimate_fill(matrix.pattern(), {.block_rows = 300, .seed = seed}));
    }
    for (const BlockSize block : all_block_sizes()) {
      const double exact = exact_fill(matrix, block);
      for (const FillEstimate& estimate : estimates) add(estimate.at(block), exact);
    }
  }

 private:
  void add(const EstimatedFill& fill, double exact) {
    const double rounding = 1e-12 * exact;
    ++cases;
    missed += exact < fill.low - rounding || exact > fill.high + rounding;
    widest = std::max(widest, (fill.high - fill.low) / 2 / exact);
  }
};

TEST(FillEstimate, HoldsItsIntervalOnGenerators) {
  Coverage coverage;
  for (const std::string& spec : kSpecs) coverage.add(generate<double, I>(spec), 5);
  EXPECT_LE(coverage.missed * 10, coverage.cases) << coverage.missed << " of " << coverage.cases;
  EXPECT_LT(coverage.widest, 0.25);
}

TEST(FillEstimate, HoldsItsIntervalOnRealMatrices) {
  const fs::path folder = test::matrix_folder();
  if (!fs::exists(folder / "MANIFEST.md")) {
    GTEST_SKIP() << "there are no matrices in " << folder << " (CMake: STRATA_MATRICES)";
  }
  Coverage coverage;
  for (const std::string name : {"bcsstk16", "aft01", "Goodwin_013", "cage10", "epb1", "memplus",
                                 "c-35", "delaunay_n15", "crystm03", "ca-CondMat"}) {
    coverage.add(read_matrix_market<double, I>(folder / (name + ".mtx.gz")), 1);
  }
  EXPECT_LE(coverage.missed * 10, coverage.cases) << coverage.missed << " of " << coverage.cases;
  EXPECT_LT(coverage.widest, 0.3);
}

TEST(FillEstimate, AlwaysCountsALongRowAmongShortOnes) {
  // The full row has a third of the entries, and full blocks where the others have single ones.
  const auto matrix = generate<double, I>("arrow:20000");
  const FillEstimate estimate = estimate_fill(matrix.pattern(), {.block_rows = 50});
  const double exact = exact_fill(matrix, {1, 8});
  EXPECT_NEAR(estimate.at({1, 8}).fill, exact, 0.1 * exact);
}

TEST(FillEstimate, DependsOnTheSeedAndNotOnThreads) {
  const auto matrix = generate<double, I>("rmat:13,edges=8");
  const auto sampled = [&](std::uint64_t seed, int threads) {
    const ThreadCountScope scope(threads);
    return estimate_fill(matrix.pattern(), {.block_rows = 300, .seed = seed});
  };
  EXPECT_EQ(sampled(1, 1), sampled(1, 4));
  EXPECT_NE(sampled(1, 1), sampled(2, 1));
}

TEST(FillEstimate, IsOneWithoutEntriesAndForSingleValues) {
  const Matrix empty(5, 5, Array<Offset>(6, 0), {}, {});
  EXPECT_EQ(estimate_fill(empty.pattern()).at({8, 8}), EstimatedFill{});
  const auto matrix = generate<double, I>("random:20000,nnzr=9");
  const EstimatedFill single = estimate_fill(matrix.pattern(), {.block_rows = 100}).at({1, 1});
  EXPECT_EQ(single.fill, 1);
  EXPECT_TRUE(single.exact());
}

TEST(FillEstimate, RefusesToSampleNothing) {
  const auto matrix = generate<double, I>("stencil5:4x4");
  EXPECT_THROW(estimate_fill(matrix.pattern(), {.block_rows = 0}), InvalidArgument);
  const FillEstimate estimate = estimate_fill(matrix.pattern());
  EXPECT_THROW(estimate.at({5, 1}), InvalidArgument);
  EXPECT_THROW(estimate.at({1, 16}), InvalidArgument);
}

}  // namespace
}  // namespace strata
