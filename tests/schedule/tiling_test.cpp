#include "strata/schedule/tiling.hpp"

#include <gtest/gtest.h>

#include <limits>
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

Array<I> cut_all(const std::vector<Offset>& before, Offset piece_bytes, I alignment) {
  return cut_rows<I>(before, {0, static_cast<I>(before.size() - 1)}, piece_bytes, alignment);
}

TEST(Tiling, CutsRowsByBytesAtAlignedPlaces) {
  const auto before = equal_rows(100, 10);
  EXPECT_EQ(cut_all(before, 250, 1), (Array<I>{0, 25, 50, 75, 100}));
  EXPECT_EQ(cut_all(before, 250, 8), (Array<I>{0, 24, 48, 72, 96, 100}));
  EXPECT_EQ(cut_all(before, 1, 32), (Array<I>{0, 32, 64, 96, 100}));
  EXPECT_EQ(cut_all(before, 1 << 20, 8), (Array<I>{0, 100}));
  EXPECT_EQ(cut_all(equal_rows(0, 10), 5, 1), (Array<I>{0}));
  EXPECT_THROW(cut_all(before, 0, 1), InvalidArgument);
  EXPECT_THROW(cut_all(before, 1, 0), InvalidArgument);
}

TEST(Tiling, ARowWithoutBytesDoesNotStopTheCutting) {
  const std::vector<Offset> before{0, 0, 0, 1000, 1000, 1000};
  EXPECT_EQ(cut_all(before, 100, 1), (Array<I>{0, 2, 3, 5}));
}

TEST(Tiling, APieceMayBeLargerThanAnyMatrix) {
  const auto before = equal_rows(100, 10);
  EXPECT_EQ(cut_all(before, std::numeric_limits<Offset>::max(), 8), (Array<I>{0, 100}));
  EXPECT_EQ(cut_rows<I>(before, {40, 60}, std::numeric_limits<Offset>::max(), 8),
            (Array<I>{40, 60}));
}

// Tiles that a tile reads or is read by, found the slow way.
std::set<std::int32_t> expected_inputs(const PatternView<I>& pattern, const Tiling<I>& tiling,
                                       std::int32_t of) {
  const auto tile_of = [&](I row) {
    std::int32_t tile = 0;
    while (tiling.row_offsets[tile + 1] <= row) ++tile;
    return tile;
  };
  std::set<std::int32_t> expected{of};
  for (I row = 0; row < pattern.rows; ++row) {
    for (const I column : pattern.columns_of(row)) {
      if (tile_of(row) == of) expected.insert(tile_of(column));
      if (tile_of(column) == of) expected.insert(tile_of(row));
    }
  }
  return expected;
}

TEST(Tiling, InputsAreTheTilesThatTheRowsTouchAndThoseThatTouchThem) {
  const auto box = test::box<I>(7, 5, 3, test::Touching::faces);
  const auto one_way = test::pattern_of<I>(105, {{0, 104}, {3, 50}, {50, 51}, {90, 2}});
  for (const auto& pattern : {box, one_way}) {
    const auto before = equal_rows(pattern.rows, 1);
    const std::vector<I> groups{0, 35, 70, 105};
    for (const Offset tile_rows : {1, 4, 10, 200}) {
      const auto tiling = make_tiling<I>(pattern.view(), before, {groups, tile_rows, 1});
      EXPECT_EQ(tiling.groups(), 3);
      for (std::int32_t tile = 0; tile < tiling.tiles(); ++tile) {
        const auto inputs = tiling.inputs_of(tile);
        EXPECT_EQ(std::set<std::int32_t>(inputs.begin(), inputs.end()),
                  expected_inputs(pattern.view(), tiling, tile));
        EXPECT_TRUE(std::ranges::is_sorted(inputs));
        EXPECT_EQ(tiling.bytes[tile], tiling.rows(tile).end - tiling.rows(tile).begin);
      }
      for (std::int32_t group = 0; group < 3; ++group) {
        EXPECT_EQ(tiling.row_offsets[tiling.group_offsets[group]], groups[group]);
      }
    }
  }
}

// A diagonal, and one entry of the first slice far to the right. The holes next to it lead to the
// tile after the one that the entry is in.
TEST(Tiling, InputsIncludeTheTilesThatHolesLeadTo) {
  test::Edges entries{{0, 31}};
  for (Offset row = 0; row < 64; ++row) entries.emplace_back(row, row);
  const auto pattern = test::pattern_of<I>(64, entries);
  const Csr<double, I> csr(64, 64, pattern.row_offsets, pattern.columns,
                           Array<double>(pattern.columns.size(), 1.0));
  const auto packed = PackedSell<double, I>::from_csr(csr, {.slice_height = 8});
  ASSERT_EQ(packed.encoding(0), SliceEncoding::dia);
  const auto before = equal_rows(64, 1);
  const std::vector<I> groups{0, 16, 32, 48, 64};
  const auto inputs = [&](const LoadedColumns<I>& loaded, std::int32_t tile) {
    const auto tiling = make_tiling<I>(loaded, before, {groups, 1000, 8});
    const auto list = tiling.inputs_of(tile);
    return std::vector<std::int32_t>(list.begin(), list.end());
  };
  using Tiles = std::vector<std::int32_t>;
  EXPECT_EQ(inputs(csr.pattern(), 0), (Tiles{0, 1}));
  EXPECT_EQ(inputs(LoadedColumns<I>(packed), 0), (Tiles{0, 1, 2}));
  // The tile that a hole is read from waits for the reader.
  EXPECT_EQ(inputs(csr.pattern(), 2), (Tiles{2}));
  EXPECT_EQ(inputs(LoadedColumns<I>(packed), 2), (Tiles{0, 2}));
}

TEST(Tiling, RefusesGroupsThatDoNotCutTheRows) {
  const auto pattern = test::box<I>(4, 1, 1, test::Touching::faces);
  const auto before = equal_rows(4, 1);
  const auto refused = [&](const PatternView<I>& view, std::vector<I> groups) {
    EXPECT_THROW(make_tiling<I>(view, before, {groups, 1, 1}), InvalidArgument);
  };
  refused(pattern.view(), {0, 3});
  refused(pattern.view(), {1, 4});
  refused(pattern.view(), {0, 3, 2, 4});
  refused(pattern.view(), {});
  refused({.rows = 4, .cols = 3, .row_offsets = {}, .columns = {}}, {0, 4});
}

}  // namespace
}  // namespace strata
