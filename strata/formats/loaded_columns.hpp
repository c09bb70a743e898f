// LoadedColumns: which elements of x a product loads for some rows. Kernels multiply holes and
// padding like entries, so these may be more than the columns of the pattern. Where rows of x are
// still being computed, a schedule waits for all that is loaded, needed or not.
#pragma once

#include <span>
#include <utility>
#include <variant>

#include "strata/base/types.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/pattern.hpp"
#include "strata/formats/sell.hpp"

namespace strata {

// Borrows the arrays of a matrix: valid as long as the matrix is.
template <Index I>
class LoadedColumns {
 public:
  // Not explicit: without padding the pattern says it all.
  LoadedColumns(const PatternView<I>& pattern)
      : rows_(pattern.rows), cols_(pattern.cols), columns_(pattern) {}
  template <Value V>
  explicit LoadedColumns(const Csr<V, I>& matrix) : LoadedColumns(matrix.pattern()) {}
  template <Value V>
  explicit LoadedColumns(const Sell<V, I>& matrix)
      : rows_(matrix.rows()),
        cols_(matrix.cols()),
        columns_(OfSell{matrix.slice_height(), matrix.slice_offsets(), matrix.columns()}) {}
  template <Value V>
  explicit LoadedColumns(const PackedSell<V, I>& matrix)
      : rows_(matrix.rows()),
        cols_(matrix.cols()),
        columns_(OfPackedSell{matrix.slice_height(), matrix.run_length(), matrix.entry_offsets(),
                              matrix.code_offsets(), matrix.encodings(), matrix.codes()}) {}

  I rows() const { return rows_; }
  I cols() const { return cols_; }

  // visit(columns) with ranges of columns that together are all that a kernel loads for the rows,
  // often several times. The rows begin and end where ranges of the kernel may, which for sliced
  // formats means whole slices.
  template <class Visit>
  void for_each(RowRange<I> rows, Visit&& visit) const {
    if (rows.begin >= rows.end) return;
    std::visit([&](const auto& columns) { visit_columns(columns, rows, visit); }, columns_);
  }

 private:
  struct OfSell {
    Offset height;
    std::span<const Offset> offsets;  // of slices
    std::span<const I> columns;
  };
  struct OfPackedSell {
    Offset height;
    Offset run;
    std::span<const Offset> entry_offsets;
    std::span<const Offset> code_offsets;
    std::span<const SliceEncoding> encodings;
    std::span<const std::byte> codes;
  };

  template <class Visit>
  static void visit_columns(const PatternView<I>& pattern, RowRange<I> rows, Visit& visit) {
    for (I row = rows.begin; row < rows.end; ++row) {
      for (const I column : pattern.columns_of(row)) visit(RowRange<I>{column, column + 1});
    }
  }

  // Lane by lane, for the columns of a row are close to each other.
  template <class ColumnOf, class Visit>
  static void visit_lanes(Offset height, Offset width, const ColumnOf& column_of, Visit& visit) {
    for (Offset lane = 0; lane < height; ++lane) {
      for (Offset entry = 0; entry < width; ++entry) {
        const auto column = static_cast<I>(column_of(entry, lane));
        visit(RowRange<I>{column, column + 1});
      }
    }
  }

  template <class Visit>
  static void visit_columns(const OfSell& sell, RowRange<I> rows, Visit& visit) {
    for (Offset slice = rows.begin / sell.height; slice * sell.height < rows.end; ++slice) {
      const Offset begin = sell.offsets[slice];
      const auto column_of = [&](Offset entry, Offset lane) {
        return sell.columns[begin + entry * sell.height + lane];
      };
      visit_lanes(sell.height, (sell.offsets[slice + 1] - begin) / sell.height, column_of, visit);
    }
  }

  template <class Visit>
  static void visit_columns(const OfPackedSell& packed, RowRange<I> rows, Visit& visit) {
    const Offset height = packed.height;
    for (Offset slice = rows.begin / height; slice * height < rows.end; ++slice) {
      const Offset width = (packed.entry_offsets[slice + 1] - packed.entry_offsets[slice]) / height;
      const SliceEncoding encoding = packed.encodings[slice];
      const auto visit_slice = [&](const auto& column_of) {
        if (encoding != SliceEncoding::dia) {
          visit_lanes(height, width, column_of, visit);
          return;
        }
        for (Offset entry = 0; entry < width; ++entry) {
          const Offset column = column_of(entry, 0);
          visit(RowRange<I>{static_cast<I>(column), static_cast<I>(column + height)});
        }
      };
      with_slice_columns(encoding, packed.codes.data() + packed.code_offsets[slice], slice * height,
                         height, width, packed.run, visit_slice);
    }
  }

  I rows_;
  I cols_;
  std::variant<PatternView<I>, OfSell, OfPackedSell> columns_;
};

}  // namespace strata
