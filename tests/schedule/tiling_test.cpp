#include "strata/schedule/tiling.hpp"

#include <gtest/gtest.h>

#include <set>

#include "strata/base/error.hpp"
#include "tests/support/graphs.hpp"

namespace strata {
namespace {

using I = std::int32_t;

std::vector<Offset> equal_rows(Offset rows, Offset bytes) {
  std::vector<Offset> before(rows + 1);
  for (Offset row = 0; row <= rows; ++row) before[row] = row * bytes;
  return before;
}

TEST(Tiling, CutsRowsByBytesAtAlignedPlaces) {
  const auto before = equal_rows(100, 10);
  EXPECT_EQ(cut_rows<I>(before, 250, 1), (Array<I>{0, 25, 50, 75, 100}));
  EXPECT_EQ(cut_rows<I>(before, 250, 8), (Array<I>{0, 24, 48, 72, 96, 100}));
  EXPECT_EQ(cut_rows<I>(before, 1, 32), (Array<I>{0, 32, 64, 96, 100}));
  EXPECT_EQ(cut_rows<I>(before, 1 << 20, 8), (Array<I>{0, 100}));
  EXPECT_EQ(cut_rows<I>(equal_rows(0, 10), 5, 1), (Array<I>{0}));
  EXPECT_THROW(cut_rows<I>(before, 0, 1), InvalidArgument);
  EXPECT_THROW(cut_rows<I>(before, 1, 0), InvalidArgument);
}

TEST(Tiling, ARowWithoutBytesDoesNotStopTheCutting) {
  const std::vector<Offset> before{0, 0, 0, 1000, 1000, 1000};
  EXPECT_EQ(cut_rows<I>(before, 100, 1), (Array<I>{0, 2, 3, 5}));
}

TEST(Tiling, InputsAreTheTilesThatTheRowsTouch) {
  const auto pattern = test::box<I>(7, 5, 3, test::Touching::faces);
  const auto before = equal_rows(pattern.rows, 1);
  for (const Offset tile_rows : {1, 4, 10, 200}) {
    const auto tiling = make_tiling(pattern.view(), cut_rows<I>(before, tile_rows, 1), before);
    const auto tile_of = [&](I row) {
      std::int32_t tile = 0;
      while (tiling.row_offsets[tile + 1] <= row) ++tile;
      return tile;
    };
    for (std::int32_t tile = 0; tile < tiling.tiles(); ++tile) {
      std::set<std::int32_t> expected{tile};
      for (I row = tiling.rows(tile).begin; row < tiling.rows(tile).end; ++row) {
        for (const I column : pattern.view().columns_of(row)) expected.insert(tile_of(column));
      }
      const auto inputs = tiling.inputs_of(tile);
      EXPECT_EQ(std::vector<std::int32_t>(inputs.begin(), inputs.end()),
                std::vector<std::int32_t>(expected.begin(), expected.end()));
      EXPECT_EQ(tiling.bytes[tile], tiling.rows(tile).end - tiling.rows(tile).begin);
    }
  }
}

TEST(Tiling, RefusesTilesThatDoNotCutTheRows) {
  const auto pattern = test::box<I>(4, 1, 1, test::Touching::faces);
  const auto before = equal_rows(4, 1);
  EXPECT_THROW(make_tiling<I>(pattern.view(), {0, 3}, before), InvalidArgument);
  EXPECT_THROW(make_tiling<I>(pattern.view(), {1, 4}, before), InvalidArgument);
  EXPECT_THROW(make_tiling<I>(pattern.view(), {0, 3, 2, 4}, before), InvalidArgument);
  EXPECT_THROW(make_tiling<I>(pattern.view(), {}, before), InvalidArgument);
  const PatternView<I> tall{.rows = 4, .cols = 3, .row_offsets = {}, .columns = {}};
  EXPECT_THROW(make_tiling<I>(tall, {0, 4}, before), InvalidArgument);
}

}  // namespace
}  // namespace strata
