#include "strata/formats/packed_sell.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "strata/gen/generate.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/repeated_values.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

constexpr Offset kSliceHeights[] = {4, 8, 16, 32};

// Sets from which every matrix can be encoded.
constexpr AllowedEncodings kEncodingSets[] = {
    {},
    {.dia = false},
    {.dia = false, .delta8 = false},
    {.dia = false, .delta8 = false, .delta16 = false},
    {.delta8 = false, .delta16 = false},
};

template <class T>
class PackedSellTyped : public testing::Test {};
TYPED_TEST_SUITE(PackedSellTyped, test::AllTypes);

TYPED_TEST(PackedSellTyped, MatchesEigenForAnySliceHeightSortWindowAndEncodings) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Offset slice_height : kSliceHeights) {
    for (const Offset sort_window : {1, 7, 100000}) {
      for (const AllowedEncodings& allowed : kEncodingSets) {
        SCOPED_TRACE(testing::Message() << "C = " << slice_height << ", window " << sort_window
                                        << ", set " << &allowed - kEncodingSets);
        const PackedSellOptions options{.slice_height = slice_height,
                                        .sort_window = sort_window,
                                        .max_fill = 1e9,
                                        .allowed = allowed};
        test::expect_format_works<V, I>(
            [&](const Csr<V, I>& csr) { return test::build<PackedSell<V, I>>(csr, options); });
      }
    }
  }
}

TYPED_TEST(PackedSellTyped, TakesNewValuesAsIfConvertedAgain) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const Offset slice_height : {4, 32}) {
    for (const Offset sort_window : {1, 24}) {
      for (const AllowedEncodings& allowed : kEncodingSets) {
        SCOPED_TRACE(testing::Message() << "C = " << slice_height << ", window " << sort_window
                                        << ", set " << &allowed - kEncodingSets);
        test::expect_new_values_taken<V, I>([&](const Csr<V, I>& csr) {
          return PackedSell<V, I>::from_csr(csr, {.slice_height = slice_height,
                                                  .sort_window = sort_window,
                                                  .max_fill = 1e9,
                                                  .allowed = allowed});
        });
      }
    }
  }
}

TYPED_TEST(PackedSellTyped, OfRowsThatAreMadeWhenNeededIsThatOfStoredOnes) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  std::vector<Csr<V, I>> matrices{generate<V, I>("stencil27:13x14x15,coefficients=random"),
                                  generate<V, I>("stencil7:9x20x30"),
                                  generate<V, I>("mesh:900,dim=2,nnzr=7,dof=3,shuffle=1")};
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    if (Csr<V, I> matrix = entries.to_csr(); matrix.rows() == matrix.cols()) {
      matrices.push_back(std::move(matrix));
    }
  }
  for (const Csr<V, I>& matrix : matrices) {
    const auto read = [&](RowRange<I> rows, RowBlock<V, I>& block) {
      const auto begin = matrix.row_offsets()[rows.begin];
      const auto end = matrix.row_offsets()[rows.end];
      block.row_offsets.clear();
      for (I row = rows.begin; row <= rows.end; ++row) {
        block.row_offsets.push_back(matrix.row_offsets()[row] - begin);
      }
      block.columns.assign(matrix.columns().begin() + begin, matrix.columns().begin() + end);
      block.values.assign(matrix.values().begin() + begin, matrix.values().begin() + end);
    };
    for (const Offset slice_height : kSliceHeights) {
      SCOPED_TRACE(testing::Message() << matrix.rows() << " rows, C = " << slice_height);
      const PackedSellOptions options{.slice_height = slice_height, .max_fill = 1e9};
      const auto stored = PackedSell<V, I>::from_csr(matrix, options);
      const auto made = PackedSell<V, I>::from_rows(matrix, matrix.rows(), read, options);
      EXPECT_EQ(made.to_csr(), matrix);
      EXPECT_TRUE(std::ranges::equal(made.encodings(), stored.encodings()));
      EXPECT_TRUE(std::ranges::equal(made.value_encodings(), stored.value_encodings()));
      EXPECT_TRUE(std::ranges::equal(made.data(), stored.data()));
      EXPECT_TRUE(std::ranges::equal(made.code_offsets(), stored.code_offsets()));
      EXPECT_EQ(made.run_length(), stored.run_length());
      EXPECT_EQ(made.footprint().bytes(), stored.footprint().bytes());
    }
    if (matrix.rows() < 2) continue;
    const PackedSellOptions sorted{.sort_window = 2};
    EXPECT_THROW((PackedSell<V, I>::from_rows(matrix, matrix.rows(), read, sorted)),
                 InvalidArgument);
  }
}

// The bytes of one slice in an encoding, counted from nothing but the matrix and the description of
// the format; nothing if the encoding cannot hold the slice.
template <Value V, Index I>
std::optional<Offset> expected_bytes(const PackedSell<V, I>& packed, const Csr<V, I>& csr,
                                     Offset slice, SliceEncoding encoding) {
  const Offset height = packed.slice_height();
  const Offset alignment = std::max<Offset>(16, height);
  const auto aligned = [&](Offset bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  };
  std::vector<std::set<Offset>> columns_of_entry;
  std::set<Offset> offsets;
  const Offset run = packed.run_length();
  bool runs = run > 1;
  for (Offset slot = slice * height; slot < std::min<Offset>((slice + 1) * height, csr.rows());
       ++slot) {
    const auto columns = csr.pattern().columns_of(packed.row_at(static_cast<I>(slot)));
    if (columns.size() > columns_of_entry.size()) columns_of_entry.resize(columns.size());
    for (std::size_t entry = 0; entry < columns.size(); ++entry) {
      columns_of_entry[entry].insert(columns[entry]);
      offsets.insert(columns[entry] - slot);
      const auto at = static_cast<Offset>(entry);
      if (at % run != 0) runs &= columns[entry] == columns[entry - 1] + 1;
    }
    runs &= std::ssize(columns) % run == 0;
  }
  const auto bytes = [&](Offset width, Offset code) {
    return width * height * Offset{sizeof(V)} + aligned(code);
  };
  const auto width = static_cast<Offset>(columns_of_entry.size());
  if (encoding == SliceEncoding::index32) return bytes(width, 4 * height * width);
  if (encoding == SliceEncoding::dia) {
    const auto diagonals = static_cast<Offset>(offsets.size());
    for (const Offset offset : offsets) {
      if (slice * height + offset < 0 || (slice + 1) * height - 1 + offset >= csr.cols()) return {};
    }
    return bytes(diagonals, 4 * diagonals);
  }
  if (has_runs(encoding) && !runs) return {};
  const Offset bases = has_runs(encoding) ? width / run : width;
  const bool small = encoding == SliceEncoding::delta8 || encoding == SliceEncoding::run8;
  const Offset size = small ? 1 : 2;
  for (const auto& columns : columns_of_entry) {
    if (*columns.rbegin() - *columns.begin() >= Offset{1} << (8 * size)) return {};
  }
  return bytes(width, aligned(4 * bases) + size * height * bases);
}

TYPED_TEST(PackedSellTyped, EverySliceHasItsCheapestEncoding) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    const Csr<V, I> csr = entries.to_csr();
    for (const Offset slice_height : kSliceHeights) {
      SCOPED_TRACE(testing::Message() << name << ", C = " << slice_height);
      const auto packed =
          PackedSell<V, I>::from_csr(csr, {.slice_height = slice_height,
                                           .max_fill = 1e9,
                                           .values = AllowedValues::of(StoredValues::full)});
      for (I slice = 0; slice < packed.slices(); ++slice) {
        const Offset bytes =
            packed.width(slice) * slice_height * Offset{sizeof(V)} + packed.block_bytes(slice);
        EXPECT_EQ(expected_bytes(packed, csr, slice, packed.encoding(slice)), bytes);
        for (const SliceEncoding other : kSliceEncodings) {
          // Diagonals are preferred to runs: they need no indices.
          if (packed.encoding(slice) == SliceEncoding::dia && has_runs(other)) continue;
          const auto other_bytes = expected_bytes(packed, csr, slice, other);
          if (other_bytes) {
            EXPECT_LE(bytes, *other_bytes) << name_of(other);
          }
        }
      }
    }
  }
}

// On a GPU the places of entries decide in which order they are added up.
TYPED_TEST(PackedSellTyped, PlacesOfEntriesDoNotDependOnValues) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const test::Repeats repeats : test::kRepeats) {
      const Csr<V, I> csr = test::with_repeats(entries.to_csr(), repeats);
      for (const Offset slice_height : kSliceHeights) {
        SCOPED_TRACE(testing::Message() << name << ", C = " << slice_height);
        const auto packed = [&](StoredValues values) {
          return PackedSell<V, I>::from_csr(
              csr,
              {.slice_height = slice_height, .max_fill = 1e9, .values = AllowedValues::of(values)});
        };
        const auto full = packed(StoredValues::full);
        const auto encoded = packed(StoredValues::all);
        EXPECT_TRUE(std::ranges::equal(full.entry_offsets(), encoded.entry_offsets()));
        for (I slice = 0; slice < full.slices(); ++slice) {
          EXPECT_EQ(full.encoding(slice) == SliceEncoding::dia,
                    encoded.encoding(slice) == SliceEncoding::dia);
        }
      }
    }
  }
}

TYPED_TEST(PackedSellTyped, CodesAreAlignedAndHolesDecodeToColumnsOfTheMatrix) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const Offset slice_height : kSliceHeights) {
      SCOPED_TRACE(testing::Message() << name << ", C = " << slice_height);
      const auto packed = PackedSell<V, I>::from_csr(
          entries.to_csr(), {.slice_height = slice_height, .max_fill = 1e9});
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packed.codes().data()) % kCacheLine, 0u);
      for (I slice = 0; slice < packed.slices(); ++slice) {
        EXPECT_EQ(packed.code_offsets()[slice] % code_alignment(slice_height), 0);
        EXPECT_EQ(delta_begin(slice_height, packed.width(slice)) % code_alignment(slice_height), 0);
        for (Offset slot = slice * slice_height; slot < (slice + 1) * slice_height; ++slot) {
          for (Offset entry = 0; entry < packed.width(slice); ++entry) {
            EXPECT_GE(packed.column(slot, entry), 0);
            EXPECT_LT(packed.column(slot, entry), packed.cols());
            const Offset k = packed.position(slot, entry);
            if (!packed.presence().has(k)) {
              EXPECT_EQ(packed.value(slot, entry), V{});
            }
          }
        }
      }
    }
  }
}

using Matrix = Csr<double, std::int32_t>;
using Packed = PackedSell<double, std::int32_t>;

Matrix band(int rows, int cols, std::initializer_list<int> offsets) {
  test::Entries<double, std::int32_t> entries(rows, cols, 1);
  for (int row = 0; row < rows; ++row) {
    for (const int offset : offsets) {
      if (row + offset >= 0 && row + offset < cols) entries.add(row, row + offset);
    }
  }
  return entries.coo().to_csr();
}

TEST(PackedSell, RefusesNewValuesOnAnotherPattern) {
  test::expect_other_patterns_refused(
      Packed::from_csr(test::staircase(4), {.slice_height = 4, .sort_window = 4}));
}

TEST(PackedSell, InteriorSlicesOfAStencilAreDia) {
  const Matrix stencil = band(32 * 1000, 32 * 1000, {-200, -1, 0, 1, 200});
  const Packed packed = Packed::from_csr(stencil);
  // The outermost offsets begin inside slices 6 and 993, and leave the matrix in slices 0 and 999.
  for (int slice = 7; slice < 993; ++slice) {
    ASSERT_EQ(packed.encoding(slice), SliceEncoding::dia) << slice;
  }
  EXPECT_NE(packed.encoding(0), SliceEncoding::dia);
  EXPECT_NE(packed.encoding(999), SliceEncoding::dia);
  // 20 B of offsets in 32, and 17 B of descriptors, for a slice of 160 entries.
  EXPECT_LT(packed.footprint().bytes_per_entry(), 8.0 + 50.0 / 160);
  EXPECT_LT(packed.footprint().fill(), 1.01);
}

TEST(PackedSell, OffsetsThatLeaveTheMatrixAreNotDia) {
  // Wide enough for the slots after the last row; one column fewer is not.
  const auto encoding_of_last = [](const Matrix& matrix) {
    const Packed packed = Packed::from_csr(matrix, {.slice_height = 8});
    return packed.encoding(packed.slices() - 1);
  };
  EXPECT_EQ(encoding_of_last(band(12, 17, {0, 1})), SliceEncoding::dia);
  EXPECT_NE(encoding_of_last(band(12, 16, {0, 1})), SliceEncoding::dia);
  const Packed below = Packed::from_csr(band(16, 16, {-1}), {.slice_height = 8});
  EXPECT_NE(below.encoding(0), SliceEncoding::dia);
  EXPECT_EQ(below.encoding(1), SliceEncoding::dia);
}

// Two planes of 64 columns: the last entry of a row in the first plane has holes beside it that
// lead to the second, where the slice has no entry.
TEST(PackedSell, HolesLeadToNoGroupThatEntriesDoNotLeadTo) {
  test::Entries<double, std::int32_t> entries(128, 128, 1);
  for (int row = 0; row < 128; ++row) entries.add(row, row);
  for (int row = 0; row < 8; ++row) {
    if (row + 60 < 64) entries.add(row, row + 60);
  }
  const Matrix matrix = entries.coo().to_csr();
  const auto encoded = [&](std::span<const Offset> groups) {
    const Packed packed = test::build<Packed>(
        matrix, PackedSellOptions{.slice_height = 8, .max_fill = 2.0, .groups = groups});
    EXPECT_EQ(packed.to_csr(), matrix);
    test::expect_matches_csr(packed, matrix);
    return packed;
  };
  EXPECT_EQ(encoded({}).encoding(0), SliceEncoding::dia);
  // Holes are in columns 64 … 67.
  for (const std::vector<Offset>& groups :
       {std::vector<Offset>{0, 64, 128}, {0, 66, 128}, {0, 64, 64, 66, 128}}) {
    const Packed packed = encoded(groups);
    EXPECT_NE(packed.encoding(0), SliceEncoding::dia);
    for (int slice = 1; slice < 16; ++slice) EXPECT_EQ(packed.encoding(slice), SliceEncoding::dia);
  }
  for (const std::vector<Offset>& groups :
       {std::vector<Offset>{0, 128}, {0, 60, 68, 128}, {0, 60, 128}, {0, 62, 128}}) {
    EXPECT_EQ(encoded(groups).encoding(0), SliceEncoding::dia);
  }
}

TEST(PackedSell, RefusesGroupsThatDoNotCutTheColumns) {
  const Matrix matrix = band(16, 16, {0});
  for (const std::vector<Offset>& groups :
       {std::vector<Offset>{0, 15}, {1, 16}, {0, 9, 8, 16}, {16}}) {
    EXPECT_THROW(Packed::from_csr(matrix, {.slice_height = 8, .groups = groups}), InvalidArgument);
  }
}

TEST(PackedSell, HolesStayHolesAndExplicitZerosEntries) {
  test::Entries<double, std::int32_t> entries(4, 8, 1);
  for (int row = 0; row < 4; ++row) {
    for (int offset = 0; offset < 5; ++offset) {
      if (row != 2 || offset != 3) entries.add(row, row + offset, offset == 1 ? 0.0 : 1.0);
    }
  }
  const Matrix matrix = entries.coo().to_csr();
  const Packed packed = Packed::from_csr(matrix, {.slice_height = 4});
  ASSERT_EQ(packed.encoding(0), SliceEncoding::dia);
  EXPECT_FALSE(packed.presence().has(packed.position(2, 3)));
  EXPECT_TRUE(packed.presence().has(packed.position(2, 1)));
  EXPECT_EQ(packed.column(2, 3), 5);
  EXPECT_EQ(packed.to_csr(), matrix);
  EXPECT_EQ(packed.footprint().stored_entries, 20);
}

TEST(PackedSell, DeltasReachAsFarAsTheirBits) {
  // Slices of 4 wide enough that the alignment of their codes does not hide the difference.
  const auto encoding_of = [](int spread) {
    test::Entries<double, std::int32_t> entries(4, 100000, 1);
    for (int row = 0; row < 4; ++row) {
      for (int j = 0; j < 16; ++j) entries.add(row, 11 * j + (row == 3) * spread + (row == 1));
    }
    const Matrix matrix = entries.coo().to_csr();
    const Packed packed = Packed::from_csr(matrix, {.slice_height = 4});
    EXPECT_EQ(packed.to_csr(), matrix);
    return packed.encoding(0);
  };
  EXPECT_EQ(encoding_of(255), SliceEncoding::delta8);
  EXPECT_EQ(encoding_of(256), SliceEncoding::delta16);
  EXPECT_EQ(encoding_of(65535), SliceEncoding::delta16);
  EXPECT_EQ(encoding_of(65536), SliceEncoding::index32);
}

// Several unknowns per node have one delta per node and row.
TEST(PackedSell, RunsOfColumnsHaveOneDelta) {
  for (const int unknowns : {2, 3, 5, 8}) {
    const auto matrix = generate<double, std::int32_t>(
        fmt::format("mesh:200,dim=3,nnzr=9,dof={},coefficients=random", unknowns));
    const Packed one_by_one =
        Packed::from_csr(matrix, {.slice_height = 16, .max_fill = 1e9, .allowed = {.runs = false}});
    const Packed in_runs = Packed::from_csr(matrix, {.slice_height = 16, .max_fill = 1e9});
    EXPECT_EQ(one_by_one.run_length(), 1);
    EXPECT_EQ(in_runs.run_length(), unknowns);
    EXPECT_EQ(in_runs.to_csr(), matrix);
    EXPECT_LT(in_runs.footprint().index_bytes * unknowns,
              1.5 * static_cast<double>(one_by_one.footprint().index_bytes));
  }
  EXPECT_EQ(Packed::from_csr(band(60, 60, {0, 5}), {}).run_length(), 1);
}

TEST(PackedSell, CountsItsBytesAndEncodings) {
  const Packed packed = Packed::from_csr(band(12, 12, {0}), {.slice_height = 4, .sort_window = 2});
  EXPECT_EQ(packed.encoding_counts(), (std::array{3, 0, 0, 0, 0, 0}));
  EXPECT_EQ(
      Packed::forecast(band(12, 12, {0}), {.slice_height = 4, .sort_window = 2}).encoding_counts,
      packed.encoding_counts());
  EXPECT_EQ(packed.footprint().value_bytes, 12 * 8);
  // One code block for all, and what tells where the slices are.
  EXPECT_EQ(packed.footprint().index_bytes, 16 + 3 * 26 + 2 * 8 + 12 * 4);
  EXPECT_TRUE(packed.presence().words().empty());
}

TEST(PackedSell, RefusesBadOptionsAndHopelessFill) {
  const Matrix matrix = band(40, 40, {0, 5});
  for (const Offset slice_height : {-4, 0, 1, 12, 64}) {
    EXPECT_THROW(Packed::from_csr(matrix, {.slice_height = slice_height}), InvalidArgument);
  }
  EXPECT_THROW(Packed::from_csr(matrix, {.sort_window = 0}), InvalidArgument);
  EXPECT_THROW(Packed::from_csr(matrix, {.max_fill = 1.0}), InvalidArgument);
}

TEST(PackedSell, NamesTheSliceThatNoAllowedEncodingFits) {
  const PackedSellOptions only_dia{
      .slice_height = 8, .allowed = {.delta8 = false, .delta16 = false, .index32 = false}};
  EXPECT_EQ(Packed::from_csr(band(16, 21, {0, 5}), only_dia).encoding_counts(),
            (std::array{2, 0, 0, 0, 0, 0}));
  try {
    Packed::from_csr(band(16, 20, {0, 5}), only_dia);
    FAIL() << "offset 5 leaves the matrix in slice 1";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "slice 1: no allowed encoding fits");
  }
}

TEST(PackedSell, ColumnsEndAtTwoToTheThirtyFirst) {
  using Wide = PackedSell<double, std::int64_t>;
  const auto one_entry = [](Offset cols) {
    return Csr<double, std::int64_t>(1, cols, {0, 1}, {cols - 1}, {1.0});
  };
  const auto largest = one_entry(Offset{1} << 31);
  EXPECT_EQ(Wide::from_csr(largest).column(0, 0), (Offset{1} << 31) - 1);
  EXPECT_EQ(Wide::from_csr(largest).to_csr(), largest);
  EXPECT_THROW(Wide::from_csr(one_entry((Offset{1} << 31) + 1)), OverflowError);
  EXPECT_THROW(Wide::footprint_of(one_entry((Offset{1} << 31) + 1)), OverflowError);
}

}  // namespace
}  // namespace strata
