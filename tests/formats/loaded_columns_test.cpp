#include "strata/formats/loaded_columns.hpp"

#include <gtest/gtest.h>

#include <set>

#include "strata/kernels/cpu/step.hpp"
#include "tests/support/format_check.hpp"
#include "tests/support/types.hpp"

namespace strata {
namespace {

// Range by range of the rows that a kernel may be given.
template <Index I>
std::set<I> loaded_by(const LoadedColumns<I>& loaded, RowRange<I> rows) {
  std::set<I> found;
  loaded.for_each(rows, [&](RowRange<I> columns) {
    EXPECT_LT(columns.begin, columns.end);
    for (I column = columns.begin; column < columns.end; ++column) found.insert(column);
  });
  return found;
}

template <class Matrix, class ColumnsOfSlots>
void expect_loaded(const Matrix& matrix, const ColumnsOfSlots& columns_of_slots) {
  using I = typename Matrix::index_type;
  const LoadedColumns<I> loaded(matrix);
  EXPECT_EQ(loaded.rows(), matrix.rows());
  EXPECT_EQ(loaded.cols(), matrix.cols());
  const I alignment = cpu::row_alignment(matrix);
  for (I begin = 0; begin < matrix.rows(); begin += alignment) {
    for (const I length : {alignment, 3 * alignment, matrix.rows()}) {
      const I end = std::min<I>(begin + std::min(length, matrix.rows()), matrix.rows());
      if (end % alignment != 0 && end != matrix.rows()) continue;
      const std::set<I> expected = columns_of_slots(begin, end);
      EXPECT_EQ(loaded_by(loaded, {begin, end}), expected) << "rows " << begin << " … " << end;
      for (const I column : expected) EXPECT_TRUE(column >= 0 && column < matrix.cols());
    }
  }
  EXPECT_TRUE(loaded_by(loaded, {matrix.rows(), matrix.rows()}).empty());
}

template <class Sliced, class ColumnAt>
void expect_loaded_by_slices(const Sliced& matrix, const ColumnAt& column_at) {
  using I = typename Sliced::index_type;
  expect_loaded(matrix, [&](I begin, I end) {
    std::set<I> expected;
    const I height = matrix.slice_height();
    for (I slice = begin / height; slice < ceil_div<I>(end, height); ++slice) {
      for (I slot = slice * height; slot < (slice + 1) * height; ++slot) {
        column_at(slice, slot, [&](I column) { expected.insert(column); });
      }
    }
    return expected;
  });
}

template <class Types>
class LoadedColumnsTyped : public testing::Test {};
TYPED_TEST_SUITE(LoadedColumnsTyped, test::AllTypes);

TYPED_TEST(LoadedColumnsTyped, OfCsrAreThoseOfTheEntries) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    SCOPED_TRACE(name);
    const Csr<V, I> csr = entries.to_csr();
    expect_loaded(csr, [&](I begin, I end) {
      const auto offsets = csr.row_offsets();
      const auto columns = csr.columns().subspan(offsets[begin], offsets[end] - offsets[begin]);
      return std::set<I>(columns.begin(), columns.end());
    });
  }
}

TYPED_TEST(LoadedColumnsTyped, OfSellIncludePaddingWhichRepeatsColumnsOfItsSlice) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const auto& [height, window] :
         {std::pair<Offset, Offset>{1, 1}, {4, 1}, {5, 1}, {32, 1}, {8, 16}, {200, 1}}) {
      SCOPED_TRACE(testing::Message() << name << ", SELL-" << height << "-" << window);
      const Csr<V, I> csr = entries.to_csr();
      const auto sell = Sell<V, I>::from_csr(
          csr, {.slice_height = height, .sort_window = window, .max_fill = 1e9});
      expect_loaded_by_slices(sell, [&](I slice, I slot, auto&& take) {
        const Offset size = sell.slice_offsets()[slice + 1] - sell.slice_offsets()[slice];
        for (I entry = 0; entry < size / sell.slice_height(); ++entry) {
          take(sell.columns()[sell.position(slot, entry)]);
        }
      });
      // The same without padding: it adds nothing.
      expect_loaded_by_slices(sell, [&](I, I slot, auto&& take) {
        if (slot >= sell.rows()) return;
        for (I entry = 0; entry < sell.row_lengths()[slot]; ++entry) {
          take(sell.columns()[sell.position(slot, entry)]);
        }
      });
    }
  }
}

TYPED_TEST(LoadedColumnsTyped, OfPackedSellAreWhatItsCodesSay) {
  using V = typename TypeParam::Value;
  using I = typename TypeParam::Index;
  const AllowedEncodings no_dia{.dia = false};
  const AllowedEncodings wide{.dia = false, .delta8 = false};
  const AllowedEncodings plain{.dia = false, .delta8 = false, .delta16 = false};
  for (const auto& [name, entries] : test::awkward_matrices<V, I>()) {
    for (const AllowedEncodings& allowed : {AllowedEncodings{}, no_dia, wide, plain}) {
      for (const auto& [height, window] :
           {std::pair<Offset, Offset>{4, 1}, {8, 1}, {32, 1}, {8, 24}}) {
        SCOPED_TRACE(testing::Message() << name << ", C = " << height << ", sigma = " << window);
        const auto packed = PackedSell<V, I>::from_csr(
            entries.to_csr(),
            {.slice_height = height, .sort_window = window, .max_fill = 1e9, .allowed = allowed});
        expect_loaded_by_slices(packed, [&](I slice, I slot, auto&& take) {
          for (I entry = 0; entry < packed.width(slice); ++entry) take(packed.column(slot, entry));
        });
        if (allowed.dia) continue;
        // Without dia there are no holes, and padding adds nothing.
        expect_loaded_by_slices(packed, [&](I slice, I slot, auto&& take) {
          for (I entry = 0; entry < packed.width(slice); ++entry) {
            if (packed.presence().has(packed.position(slot, entry))) {
              take(packed.column(slot, entry));
            }
          }
        });
      }
    }
  }
}

TEST(LoadedColumns, OfADiaSliceIncludeHoles) {
  // A diagonal, and an entry three columns to the right of it in the first row.
  const Csr<double, std::int32_t> csr(8, 8, {0, 2, 3, 4, 5, 6, 7, 8, 9},
                                      {0, 3, 1, 2, 3, 4, 5, 6, 7}, Array<double>(9, 1.0));
  const auto packed = PackedSell<double, std::int32_t>::from_csr(csr, {.slice_height = 4});
  ASSERT_EQ(packed.encoding(0), SliceEncoding::dia);
  using Columns = std::set<std::int32_t>;
  EXPECT_EQ(loaded_by<std::int32_t>(LoadedColumns<std::int32_t>(packed), {0, 4}),
            (Columns{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(loaded_by<std::int32_t>(LoadedColumns<std::int32_t>(packed), {4, 8}),
            (Columns{4, 5, 6, 7}));
}

}  // namespace
}  // namespace strata
