// Tiles of sweeps in which values are flags, multiplied one by one on the processor.
#include "strata/execute/gpu/flagged_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "tests/support/matrices.hpp"

namespace strata::gpu {
namespace {

constexpr int kWorkers = 5;

// All tiles of a matrix, written some at a time over garbage.
template <Value V>
struct WrittenTiles : FlaggedStream<V> {
  Array<std::byte> records;
  Array<std::uint64_t> presence;

  WrittenTiles(const Csr<V, std::int32_t>& matrix, const FlaggedForm& cut)
      : FlaggedStream<V>(matrix, cut, kWorkers),
        records(static_cast<std::size_t>(this->record_bytes), std::byte{0xa5}),
        presence(static_cast<std::size_t>(this->presence_words()), ~std::uint64_t{0}) {
    constexpr Offset kTogether = 7;
    parallel_dynamic(this->tiles, kTogether, [&](Offset first, Offset end) {
      this->write(first, end, records.data() + this->begin_of(first), presence);
    });
  }

  const FlaggedTile& tile(Offset t) const {
    return *reinterpret_cast<const FlaggedTile*>(records.data() + this->begin_of(t));
  }
};

// y = Ax of a tile, and which rows of x it reads.
template <Value V>
class TileReader {
 public:
  TileReader(const WrittenTiles<V>& stream, const std::vector<V>& x, std::vector<V>& y)
      : stream_(stream), x_(x), y_(y) {}

  void multiply(Offset t) {
    read.clear();
    const FlaggedTile& tile = stream_.tile(t);
    ASSERT_EQ(tile.first_row, stream_.places()[t].first_row);
    ASSERT_EQ(tile.rows, stream_.places()[t].rows);
    if (tile.kind == FlaggedKind::lines) {
      lines(tile, stream_.places()[t].segments);
    } else if (tile.kind == FlaggedKind::diagonals) {
      diagonals(tile);
    } else {
      blocks(tile);
    }
  }

  std::vector<Offset> read;  // rows

 private:
  static constexpr Offset kSegment = kSegmentRows<V>;

  void lines(const FlaggedTile& tile, int segments) {
    const V* values = tile.part<V>(tile.values);
    int columns = 0;
    for (int line = 0; line < kMostLines; ++line) {
      columns += std::popcount(line_columns(tile.columns, line));
    }
    std::uint64_t bit = tile.first_value;
    for (int segment = 0; segment < segments; ++segment) {
      const Offset first = tile.first_row + Offset{segment} * stream_.form.stride;
      for (Offset place = 0; place < tile.rows; ++place) y_[first + place] = V{};
      int number = 0;
      for (int line = 0; line < kMostLines; ++line) {
        for (int side = 0; side < 3; ++side) {
          if ((line_columns(tile.columns, line) >> side & 1) == 0) continue;
          for (Offset place = 0; place < kSegment; ++place, ++bit) {
            const bool entry = stream_.presence.empty()
                                   ? place < tile.rows
                                   : (stream_.presence[bit / 64] >> (bit % 64) & 1) != 0;
            const V value = values[place_of_value<V>(tile.mirrored, segments, columns, segment,
                                                     number, static_cast<int>(place))];
            if (!entry) {
              ASSERT_EQ(value, V{});
              continue;
            }
            const Offset column = first + place + tile.distances()[line] + side - 1;
            ASSERT_GE(column, 0);
            ASSERT_LT(column, stream_.rows);
            y_[first + place] += value * x_[column];
            read.push_back(column);
          }
          ++number;
        }
      }
    }
  }

  // x of the sectors of a tile, one after another.
  std::vector<V> gathered(const FlaggedTile& tile) {
    const Offset each = kSectorBytes / Offset{sizeof(V)};
    EXPECT_LE(tile.sectors, kMostSectors);
    std::vector<V> near;
    for (int s = 0; s < tile.sectors; ++s) {
      for (Offset e = 0; e < each; ++e) {
        const Offset column = Offset{tile.sector_list()[s]} * each + e;
        near.push_back(column < stream_.rows ? x_[column] : V{});
        if (column < stream_.rows) read.push_back(column);
      }
    }
    return near;
  }

  void diagonals(const FlaggedTile& tile) {
    ASSERT_EQ(tile.rows % kSegment, 0);
    ASSERT_LE(tile.even_diagonals, tile.diagonals);
    const std::vector<V> near = gathered(tile);
    const V* values = tile.part<V>(tile.values);
    std::uint64_t bit = tile.first_value;
    for (Offset first = 0; first < tile.rows; first += kSegment) {
      for (Offset place = first; place < first + kSegment; ++place)
        y_[tile.first_row + place] = V{};
      for (int d = 0; d < tile.diagonals; ++d) {
        for (Offset place = first; place < first + kSegment; ++place, ++bit) {
          const V value = *values++;
          const Offset at = tile.runs()[d] + place;
          ASSERT_LT(at, std::ssize(near));
          if (stream_.presence.empty() || (stream_.presence[bit / 64] >> (bit % 64) & 1) != 0) {
            y_[tile.first_row + place] += value * near[static_cast<std::size_t>(at)];
          } else {
            ASSERT_EQ(value, V{});
          }
        }
      }
    }
  }

  void blocks(const FlaggedTile& tile) {
    const int block = stream_.form.block;
    const std::vector<V> near = gathered(tile);
    const int rows = tile.rows / block;
    const V* values = tile.part<V>(tile.values);
    int entry = 0;
    for (int row = 0; row < rows; ++row) {
      for (int r = 0; r < block; ++r) y_[tile.first_row + row * block + r] = V{};
      for (; entry < tile.row_ends()[row]; ++entry) {
        for (int r = 0; r < block; ++r) {
          for (int c = 0; c < block; ++c) {
            y_[tile.first_row + row * block + r] +=
                values[(entry * block + r) * block + c] * near[tile.block_columns(rows)[entry] + c];
          }
        }
      }
    }
  }

  const WrittenTiles<V>& stream_;
  const std::vector<V>& x_;
  std::vector<V>& y_;
};

template <Value V>
void expect_product(const Csr<V, std::int32_t>& matrix, const FlaggedForm& form) {
  const WrittenTiles<V> stream(matrix, form);
  const auto rows = static_cast<std::size_t>(matrix.rows());
  const auto x = test::random_vector<V>(rows, 7);
  std::vector<V> expected(rows);
  reference::spmv(matrix, V{1}, x, V{}, expected, matrix.all_rows());
  std::vector<V> y(rows, V(std::numeric_limits<float>::quiet_NaN()));
  std::vector<std::int32_t> tile_of(rows, -1);
  for (std::int32_t t = 0; t < stream.tiles; ++t) {
    const FlaggedPlace& place = stream.places()[t];
    for (Offset segment = 0; segment < place.segments; ++segment) {
      for (Offset row = 0; row < place.rows; ++row) {
        std::int32_t& tile = tile_of[place.first_row + segment * form.stride + row];
        ASSERT_EQ(tile, -1) << "a row in two tiles";
        tile = t;
      }
    }
  }
  ASSERT_EQ(std::ranges::count(tile_of, -1), 0);
  TileReader<V> reader(stream, x, y);
  std::vector<std::int32_t> last(static_cast<std::size_t>(stream.tiles));
  for (std::int32_t t = 0; t < stream.tiles; ++t) {
    reader.multiply(t);
    if (testing::Test::HasFatalFailure()) return;
    std::int32_t needed = t;
    for (const Offset row : reader.read) needed = std::max(needed, tile_of[row]);
    EXPECT_GT(stream.tile(t).cleared, needed / kWorkers) << "tile " << t;
    last[t] = needed;
  }
  // The window has to hold what the powers need, one after the other.
  for (std::int32_t t = 1; t < stream.tiles; ++t) last[t] = std::max(last[t], last[t - 1]);
  for (std::int32_t t = 0; t < stream.tiles; ++t) {
    std::int32_t reached = t;
    for (int power = 2; power <= kMaxSweepPower; ++power) {
      reached = last[reached];
      EXPECT_GE(stream.dependency_distance[power], reached - t) << "power " << power;
    }
  }
  const double tolerance = 64 * std::numeric_limits<decltype(std::abs(V{}))>::epsilon();
  for (std::size_t row = 0; row < rows; ++row) {
    ASSERT_LE(std::abs(y[row] - expected[row]), tolerance * (1 + std::abs(expected[row])))
        << "row " << row;
  }
}

template <class V>
class FlaggedStreams : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FlaggedStreams, Values);

TYPED_TEST(FlaggedStreams, MultiplyLikeTheMatrix) {
  for (const char* spec : {"stencil7:32x32x20,coefficients=random",
                           "stencil7:128x12x5,coefficients=random",
                           "stencil7:256x7x3,coefficients=random",
                           "stencil5:128x33,coefficients=random",
                           "stencil27:16x16x12,coefficients=random",
                           "stencil27:9x11x7,coefficients=random",
                           "stencil27:6x5x12,dof=3,coefficients=random",
                           "stencil7:6x7x11,dof=2,coefficients=random",
                           "stencil7:33x9x20,coefficients=random",
                           "stencil5:51x40,coefficients=random",
                           "band:4000,width=7",
                           "band:2000,width=63",
                           "mesh:2000,dim=2,nnzr=7",
                           "mesh:900,dim=3,nnzr=15,dof=3",
                           "band:3000,width=27",
                           "band:1001,width=3",
                           "graphene:20x31",
                           "random:700,nnzr=9",
                           "fem:20x20,degree=2",
                           "stencil27:16x16x12,coefficients=random,shuffle=1"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate<TypeParam, std::int32_t>(spec);
    const auto form = find_flagged_form(matrix);
    ASSERT_TRUE(form.has_value());
    expect_product(matrix, *form);
    // Any matrix can be cut into blocks of one, whatever the lanes.
    FlaggedForm blocks;
    for (const int lanes : {1, 8, 32}) {
      blocks.lanes = lanes;
      expect_product(matrix, blocks);
    }
  }
}

Offset mirrored_tiles(const auto& stream) {
  Offset mirrored = 0;
  for (Offset t = 0; t < stream.tiles; ++t) mirrored += stream.tile(t).mirrored ? 1 : 0;
  return mirrored;
}

TYPED_TEST(FlaggedStreams, StoreWhatIsMirroredOnce) {
  using V = TypeParam;
  constexpr Offset kRows = kSegmentRows<V>;
  const auto matrix = generate<V, std::int32_t>("stencil7:128x16x6,coefficients=random");
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const WrittenTiles<V> stream(matrix, *form);
  const Offset tiles = matrix.rows() / (4 * kRows);
  ASSERT_EQ(stream.tiles, tiles);
  EXPECT_EQ(mirrored_tiles(stream), tiles);
  // Inside, of 7 columns of 4 segments: 5 of each, one more, and the left values of 4 first rows.
  const Offset head = stream.begin_of(tiles / 2) + stream.tile(tiles / 2).values;
  EXPECT_EQ(stream.begin_of(tiles / 2 + 1) - head,
            (21 * kRows + 4) * Offset{sizeof(V)} + (16 - 4 * Offset{sizeof(V)} % 16) % 16);
  FlaggedForm whole = *form;
  whole.mirrors = false;
  const WrittenTiles<V> all(matrix, whole);
  EXPECT_EQ(mirrored_tiles(all), 0);
  EXPECT_LT(stream.record_bytes, 8 * all.record_bytes / 10);
  expect_product(matrix, whole);
}

// One value of a pair is another, or one of a pair is missing: the tiles that have it store both.
TEST(FlaggedMirrors, AreSeenInEachTile) {
  const auto matrix = generate<double, std::int32_t>("stencil7:128x16x6,coefficients=random");
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const Offset tiles = matrix.rows() / 256;
  // Tiles are two side by side, of 64 rows in each of four lines.
  const std::int32_t row = 128 * (16 * 2 + 5) + 70;
  const auto changed_at = [&](std::int32_t column, double factor) {
    Array<double> values(matrix.values().begin(), matrix.values().end());
    const auto columns = matrix.pattern().columns_of(row);
    const auto place = std::ranges::find(columns, column) - columns.begin();
    values[static_cast<std::size_t>(matrix.row_offsets()[row] + place)] *= factor;
    return Csr<double, std::int32_t>(
        matrix.rows(), matrix.cols(),
        Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
        Array<std::int32_t>(matrix.columns().begin(), matrix.columns().end()), std::move(values));
  };
  for (const std::int32_t column : {row - 1, row + 1, row - 128, row + 128}) {
    SCOPED_TRACE(column - row);
    for (const double factor : {0.5, -1.0}) {
      const auto lopsided = changed_at(column, factor);
      EXPECT_EQ(mirrored_tiles(WrittenTiles<double>(lopsided, *form)), tiles - 1);
      expect_product(lopsided, *form);
    }
  }
  // Not among the pairs of a tile.
  for (const std::int32_t column : {row, row - 128 * 16, row + 128 * 16}) {
    EXPECT_EQ(mirrored_tiles(WrittenTiles<double>(changed_at(column, 2), *form)), tiles);
  }
  Array<Offset> offsets(matrix.row_offsets().begin(), matrix.row_offsets().end());
  Array<std::int32_t> columns(matrix.columns().begin(), matrix.columns().end());
  Array<double> values(matrix.values().begin(), matrix.values().end());
  const Offset entry = offsets[row] + 2;  // to the left
  ASSERT_EQ(columns[entry], row - 1);
  columns.erase(columns.begin() + entry);
  values.erase(values.begin() + entry);
  for (std::int32_t r = row; r < matrix.rows(); ++r) --offsets[r + 1];
  const Csr<double, std::int32_t> one_way(matrix.rows(), matrix.cols(), std::move(offsets),
                                          std::move(columns), std::move(values));
  EXPECT_EQ(mirrored_tiles(WrittenTiles<double>(one_way, *form)), tiles - 1);
  expect_product(one_way, *form);
}

TEST(FlaggedForms, AreThoseOfTheMatrix) {
  const auto form_of = [](const char* spec) {
    const auto form = find_flagged_form(generate<double, std::int32_t>(spec));
    return form.value_or(FlaggedForm{.lanes = 0});
  };
  const FlaggedForm seven = form_of("stencil7:64x16x16,coefficients=random");
  EXPECT_TRUE(seven.has_lines);
  EXPECT_EQ(seven.lines, FlaggedLines::seven_points);
  EXPECT_EQ(seven.stride, 64);
  EXPECT_EQ(seven.period, 64 * 16 / (4 * 64));
  const FlaggedForm five = form_of("stencil5:128x64,coefficients=random");
  EXPECT_TRUE(five.has_points());
  EXPECT_EQ(five.lines, FlaggedLines::five_points);
  EXPECT_EQ(five.stride, 128);
  EXPECT_EQ(five.period, 0);
  // Rows of 48 do not make segments of 64.
  const FlaggedForm nine = form_of("stencil7:48x16x16,coefficients=random");
  EXPECT_TRUE(nine.has_lines);
  EXPECT_EQ(nine.lines, FlaggedLines::nine_lines);
  EXPECT_TRUE(form_of("stencil27:32x32x8").has_lines);
  EXPECT_EQ(form_of("stencil27:32x32x8").segments, 0);
  // Diagonals next to each other, as many segments as fit into a tile; and lines an odd number of
  // columns away.
  for (const auto& [spec, segments] : {std::pair("band:9000,width=7", 4),
                                       {"band:9000,width=9", 3},
                                       {"band:9000,width=27", 1},
                                       {"stencil7:33x32x32,coefficients=random", 2},
                                       {"stencil5:101x100", 4}}) {
    SCOPED_TRACE(spec);
    const FlaggedForm diagonals = form_of(spec);
    EXPECT_FALSE(diagonals.has_lines);
    EXPECT_EQ(diagonals.segments, segments);
  }
  EXPECT_EQ(form_of("stencil27:8x8x12,dof=3").block, 3);
  EXPECT_EQ(form_of("stencil7:8x8x12,dof=2").block, 2);
  const FlaggedForm mesh = form_of("mesh:3000,dim=3,nnzr=15");
  EXPECT_FALSE(mesh.has_lines);
  EXPECT_EQ(mesh.block, 1);
  // Every row has more sectors than a tile can have.
  EXPECT_EQ(form_of("random:4000,nnzr=200").lanes, 0);
}

TEST(FlaggedWorkers, GoRoundAPlaneInWholeTurnsIfFewAreLeftOut) {
  EXPECT_EQ(flagged_workers({.period = 256}, 132), 128);
  EXPECT_EQ(flagged_workers({.period = 132 * 3}, 132), 132);
  EXPECT_EQ(flagged_workers({.period = 200}, 132), 132);
  EXPECT_EQ(flagged_workers({}, 132), 132);
}

TEST(FlaggedForms, RowsThatAreTooLongAreRefused) {
  const auto arrow = generate<double, std::int32_t>("arrow:4000");
  EXPECT_THROW(FlaggedStream<double>(arrow, {}, kWorkers), InvalidArgument);
  const auto rows = generate<double, std::int32_t>("band:100,width=3");
  EXPECT_THROW(FlaggedStream<double>(rows, {.block = 3}, kWorkers), InvalidArgument);
  EXPECT_THROW(FlaggedStream<double>(rows, {.block = 2}, kWorkers), InvalidArgument);
}

// Of a band all rows but those at both ends are in tiles of diagonals, whose x is one run.
TEST(FlaggedDiagonals, ListEachSectorOnce) {
  const auto matrix = generate<double, std::int32_t>("band:4096,width=27");
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const WrittenTiles<double> stream(matrix, *form);
  int diagonals = 0;
  for (Offset t = 0; t < stream.tiles; ++t) {
    const FlaggedTile& tile = stream.tile(t);
    if (tile.kind != FlaggedKind::diagonals) continue;
    ++diagonals;
    EXPECT_EQ(tile.diagonals, 27);
    EXPECT_EQ(tile.even_diagonals, 13);
    EXPECT_EQ(tile.sectors, (64 + 2 * 16) / 4);
  }
  EXPECT_EQ(diagonals, 4096 / 64 - 2);
}

TEST(FlaggedStreamThreads, TilesDoNotDependOnTheirNumber) {
  const auto matrix = generate<double, std::int32_t>("mesh:20000,dim=3,nnzr=15");
  const auto form = find_flagged_form(matrix);
  ASSERT_TRUE(form.has_value());
  const auto bytes = [&](int threads) {
    const ThreadCountScope scope(threads);
    return WrittenTiles<double>(matrix, *form).records;
  };
  EXPECT_EQ(bytes(1), bytes(3));
}

TEST(FlaggedStreamMatrices, WithoutEntriesAndRows) {
  const Csr<double, std::int32_t> empty;
  EXPECT_FALSE(find_flagged_form(empty).has_value());
  EXPECT_EQ(FlaggedStream<double>(empty, {}, kWorkers).tiles, 0);
  const Csr<double, std::int32_t> zero(100, 100, Array<Offset>(101, 0), {}, {});
  expect_product(zero, {});
}

}  // namespace
}  // namespace strata::gpu
