#include "strata/model/warp_model.hpp"

#include <gtest/gtest.h>

#include <array>

#include "strata/base/error.hpp"
#include "strata/formats/csr.hpp"
#include "strata/gen/generate.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;
constexpr std::array kCoops{1, 2, 4, 8, 16, 32};

// Reguly and Giles, Table 2, in percent.
using TableLine = std::array<double, kCoops.size()>;

// Rows of four entries, as those of shallow_water1.
Pattern<I> rows_of_four() {
  test::Edges entries;
  constexpr Offset kRows = 4096;
  for (Offset row = 0; row < kRows; ++row) {
    for (Offset k = 0; k < 4; ++k) entries.emplace_back(row, (row + 37 * k) % kRows);
  }
  return test::pattern_of<I>(kRows, entries);
}

// atmosmodd is this stencil with 58 planes: 1 270 432 rows and 8 814 880 entries, as in Table 1.
Csr<float, I> planes_of_atmosmodd() {
  return generate<float, I>("stencil7:148x148x20");
}

TEST(Divergence, OfShallowWaterAgreesWithTheTable) {
  const Pattern<I> pattern = rows_of_four();
  const TableLine table{0, 0, 0, 16, 16, 16};
  const TableLine idle{0, 0, 0, 50, 75, 87.5};  // "half of the threads" at 8
  for (std::size_t i = 0; i < kCoops.size(); ++i) {
    const Divergence found = predicted_divergence<I>(pattern.view(), {.coop = kCoops[i]});
    EXPECT_NEAR(100 * found.branch_share, table[i], 0.01) << "coop " << kCoops[i];
    EXPECT_NEAR(100 * found.idle_share, idle[i], 1e-9) << "coop " << kCoops[i];
  }
}

TEST(Divergence, OfAtmosmoddAgreesWithTheTable) {
  const auto matrix = planes_of_atmosmodd();
  const TableLine table{2.6, 13.3, 13.79, 15.9, 16, 16};
  // At coop 1 and 2 compilers unroll the loop, whose tests are then fewer.
  const TableLine tolerance{0.7, 3.5, 0.1, 0.2, 0.1, 0.1};
  for (std::size_t i = 0; i < kCoops.size(); ++i) {
    const Divergence found = predicted_divergence(matrix.pattern(), {.coop = kCoops[i]});
    EXPECT_NEAR(100 * found.branch_share, table[i], tolerance[i]) << "coop " << kCoops[i];
  }
}

TEST(Divergence, CountsThreadsThatLeaveTheLoopEarlier) {
  // Two rows, of 2 and of 1 entries, one thread each, in a warp of two: tests after 0, 1 and 2
  // trips, of which the second diverges; 4 other branches and 2 of the block.
  const auto pattern = test::pattern_of<I>(2, {{0, 0}, {0, 1}, {1, 0}});
  const CoopKernel kernel{.coop = 1, .repeat = 1, .block_size = 2, .warp = 2};
  const Divergence found = predicted_divergence<I>(pattern.view(), kernel);
  EXPECT_DOUBLE_EQ(found.branch_share, 1.0 / (3 + 4 + 2));
  EXPECT_DOUBLE_EQ(found.idle_share, 1.0 / 4);
}

TEST(HitRate, OfAtmosmoddIsNearTheTable) {
  const auto matrix = planes_of_atmosmodd();
  const TableLine table{54.5, 77.5, 79.1, 75.3, 86.0, 90.6};
  // Warps in strict turns evict more of each other's lines than those of a GPU do where many lines
  // are in use at a time.
  const TableLine tolerance{22, 11, 11, 2, 2, 2};
  for (std::size_t i = 0; i < kCoops.size(); ++i) {
    const double found = 100 * predicted_hit_rate(matrix.pattern(), {.coop = kCoops[i]});
    EXPECT_NEAR(found, table[i], tolerance[i]) << "coop " << kCoops[i];
  }
}

TEST(HitRate, IsThatOfTheFirstLoadsInACacheForEverything) {
  // One row of 64 single-precision values, two threads: lines of 128 bytes hold 32.
  test::Edges entries;
  for (Offset column = 0; column < 64; ++column) entries.emplace_back(0, column);
  Pattern<I> pattern = test::pattern_of<I>(64, entries);
  pattern.rows = 1;
  pattern.row_offsets.resize(2);
  const CoopKernel kernel{.coop = 2, .repeat = 1, .block_size = 2, .warp = 2};
  // Offsets: 2 loads of 1 line; values, columns and x: 32 loads each, of 2 lines.
  const double hits = 1 + 3 * 30;
  EXPECT_DOUBLE_EQ(predicted_hit_rate<I>(pattern.view(), kernel), hits / (2 + 3 * 32));
}

TEST(HitRate, CountsEveryRowOnOneMultiprocessor) {
  const Pattern<I> pattern = rows_of_four();
  const Multiprocessor alone{.cache = {.bytes = 1 << 24, .ways = 16, .line_bytes = 128},
                             .count = 1};
  // 32 threads per row: each row loads its offsets twice, its values and columns once, and x in
  // four lines; all but the first loads of lines hit.
  const double misses = 129 + 2 * 512 + 128;
  EXPECT_DOUBLE_EQ(predicted_hit_rate<I>(pattern.view(), {.coop = 32}, alone),
                   1 - misses / (4096 * (2 + 2 + 4)));
}

TEST(WarpModel, HasNothingToSayWithoutRows) {
  const Pattern<I> empty;
  EXPECT_EQ(predicted_divergence<I>(empty.view(), {}).branch_share, 0);
  EXPECT_EQ(predicted_hit_rate<I>(empty.view(), {}), 0);
}

TEST(WarpModel, ServesMatricesWithoutEntries) {
  const Csr<float, I> matrix(100, 7, Array<Offset>(101, 0), {}, {});
  const Divergence found = predicted_divergence(matrix.pattern(), {.coop = 4});
  EXPECT_EQ(found.idle_share, 0);
  EXPECT_GT(predicted_hit_rate(matrix.pattern(), {.coop = 4}), 0);  // of the offsets
}

TEST(WarpModel, RefusesImpossibleKernels) {
  const Pattern<I> pattern = test::graph_of<I>(4, {});
  for (const CoopKernel& kernel :
       {CoopKernel{.coop = 3}, CoopKernel{.coop = 64}, CoopKernel{.coop = 0},
        CoopKernel{.repeat = 0}, CoopKernel{.block_size = 100}, CoopKernel{.warp = 24}}) {
    EXPECT_THROW(predicted_divergence<I>(pattern.view(), kernel), InvalidArgument);
    EXPECT_THROW(predicted_hit_rate<I>(pattern.view(), kernel), InvalidArgument);
  }
  EXPECT_THROW(predicted_hit_rate<I>(pattern.view(), {}, {.count = 0}), InvalidArgument);
  EXPECT_THROW(predicted_hit_rate<I>(pattern.view(), {}, {}, {.value = 0}), InvalidArgument);
}

}  // namespace
}  // namespace strata
