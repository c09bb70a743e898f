#include "strata/formats/symmetric_csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "strata/base/function_ref.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/internal/collect.hpp"
#include "strata/formats/statistics.hpp"

namespace strata {

namespace {

template <Value V, Index I>
void require_square_and_symmetry(const Csr<V, I>& matrix, Symmetry symmetry) {
  if (symmetry == Symmetry::general) {
    throw InvalidArgument("symmetric CSR cannot hold a general matrix");
  }
  if (matrix.rows() != matrix.cols()) {
    throw InvalidMatrix(fmt::format("a {} x {} matrix cannot be {}", matrix.rows(), matrix.cols(),
                                    name_of(symmetry)));
  }
}

// How many entries of the row are in the lower triangle, the diagonal included.
template <Index I>
Offset lower_length(const PatternView<I>& pattern, I row) {
  const auto columns = pattern.columns_of(row);
  return std::ranges::upper_bound(columns, row) - columns.begin();
}

// The sum of count(row) over all rows.
template <Index I>
Offset sum_over_rows(I rows, std::type_identity_t<FunctionRef<Offset(I row)>> count) {
  return parallel_reduce(
      rows, Offset{0},
      [&](Offset begin, Offset end) {
        Offset sum = 0;
        for (Offset row = begin; row < end; ++row) sum += count(static_cast<I>(row));
        return sum;
      },
      std::plus<>{});
}

template <Index I>
Offset lower_entries(const PatternView<I>& pattern) {
  return sum_over_rows(pattern.rows, [&](I row) { return lower_length(pattern, row); });
}

// Of a lower triangle, whose rows end with the diagonal where they have one.
template <Index I>
Offset diagonal_entries(const PatternView<I>& lower) {
  return sum_over_rows(lower.rows, [&](I row) {
    const auto columns = lower.columns_of(row);
    return Offset{!columns.empty() && columns.back() == row};
  });
}

// The first row with an entry that bad(row, k) finds, and that entry's position in the matrix.
template <Index I>
struct BadEntry {
  I row = std::numeric_limits<I>::max();
  Offset position = 0;
};

template <Index I>
BadEntry<I> find_first(const PatternView<I>& pattern,
                       std::type_identity_t<FunctionRef<bool(I row, Offset k)>> bad) {
  return parallel_reduce(
      pattern.rows, BadEntry<I>{},
      [&](Offset begin, Offset end) {
        for (I row = static_cast<I>(begin); row < end; ++row) {
          for (Offset k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k) {
            if (bad(row, k)) return BadEntry<I>{row, k};
          }
        }
        return BadEntry<I>{};
      },
      [](const BadEntry<I>& a, const BadEntry<I>& b) { return a.row <= b.row ? a : b; });
}

// Throws, naming the entry, if there is one.
template <Index I>
void require_none(const PatternView<I>& pattern, const BadEntry<I>& bad, std::string_view what,
                  Symmetry symmetry) {
  if (bad.row < pattern.rows) {
    throw InvalidMatrix(fmt::format("entry ({}, {}) {} a {} matrix", bad.row,
                                    pattern.columns[bad.position], what, name_of(symmetry)));
  }
}

template <Value V, Index I>
bool has_mirror_image(const Csr<V, I>& matrix, I row, Offset k, Symmetry symmetry) {
  const I column = matrix.columns()[k];
  const auto candidates = matrix.pattern().columns_of(column);
  const auto found = std::ranges::lower_bound(candidates, row);
  if (found == candidates.end() || *found != row) return false;
  const Offset mirror = matrix.row_offsets()[column] + (found - candidates.begin());
  return matrix.values()[k] == mirrored(matrix.values()[mirror], symmetry);
}

template <Value V, Index I>
BadEntry<I> find_asymmetry(const Csr<V, I>& matrix, Symmetry symmetry) {
  return find_first(matrix.pattern(),
                    [&](I row, Offset k) { return !has_mirror_image(matrix, row, k, symmetry); });
}

template <Value V, Index I>
Csr<V, I> lower_triangle(const Csr<V, I>& matrix) {
  const PatternView<I> pattern = matrix.pattern();
  return collect_rows<V, I>(matrix.rows(), matrix.cols(), [&](I row, RowEntries<V, I>& entries) {
    const Offset begin = pattern.row_offsets[row];
    const Offset end = begin + lower_length(pattern, row);
    for (Offset k = begin; k < end; ++k) entries.add(pattern.columns[k], matrix.values()[k]);
    return row;
  });
}

template <Value V, Index I>
Footprint footprint_from(I rows, Offset stored, Offset entries) {
  return {.value_bytes = bytes_of<V>(stored),
          .index_bytes = bytes_of<I>(stored) + bytes_of<Offset>(Offset{rows} + 1),
          .stored_entries = stored,
          .entries = entries};
}

}  // namespace

template <Value V, Index I>
SymmetricCsr<V, I>::SymmetricCsr(Csr<V, I> lower, Symmetry symmetry)
    : lower_(std::move(lower)), symmetry_(symmetry) {
  require_square_and_symmetry(lower_, symmetry);
  const PatternView<I> pattern = lower_.pattern();
  const auto is_above = [&](I row, Offset k) { return columns()[k] > row; };
  require_none(pattern, find_first(pattern, is_above),
               "is above the diagonal of the stored half of", symmetry);
  const auto is_wrong = [&](I row, Offset k) {
    return columns()[k] == row && values()[k] != mirrored(values()[k], symmetry);
  };
  require_none(pattern, find_first(pattern, is_wrong), "cannot be on the diagonal of", symmetry);
  nnz_ = 2 * lower_.nnz() - diagonal_entries(pattern);
}

template <Value V, Index I>
bool SymmetricCsr<V, I>::suits(const MatrixStatistics& statistics) {
  return statistics.value_symmetry != Symmetry::general;
}

template <Value V, Index I>
SymmetricCsr<V, I> SymmetricCsr<V, I>::from_csr(const Csr<V, I>& matrix) {
  require_square_and_symmetry(matrix, Symmetry::symmetric);
  for (const Symmetry symmetry :
       {Symmetry::symmetric, Symmetry::skew_symmetric, Symmetry::hermitian}) {
    if (find_asymmetry(matrix, symmetry).row >= matrix.rows()) {
      return SymmetricCsr(lower_triangle(matrix), symmetry);
    }
  }
  throw InvalidMatrix("the matrix is neither symmetric nor skew-symmetric nor hermitian");
}

template <Value V, Index I>
SymmetricCsr<V, I> SymmetricCsr<V, I>::from_csr(const Csr<V, I>& matrix, Symmetry symmetry) {
  require_square_and_symmetry(matrix, symmetry);
  require_none(matrix.pattern(), find_asymmetry(matrix, symmetry), "lacks its mirror image in",
               symmetry);
  return SymmetricCsr(lower_triangle(matrix), symmetry);
}

template <Value V, Index I>
Footprint SymmetricCsr<V, I>::footprint_of(const Csr<V, I>& matrix) {
  return footprint_from<V>(matrix.rows(), lower_entries(matrix.pattern()), matrix.nnz());
}

template <Value V, Index I>
Csr<V, I> SymmetricCsr<V, I>::to_csr() const {
  const Csr<V, I> upper = transposed(lower_);
  return collect_rows<V, I>(rows(), cols(), [&](I row, RowEntries<V, I>& entries) {
    for (Offset k = row_offsets()[row]; k < row_offsets()[row + 1]; ++k) {
      entries.add(columns()[k], values()[k]);
    }
    for (Offset k = upper.row_offsets()[row]; k < upper.row_offsets()[row + 1]; ++k) {
      if (upper.columns()[k] != row) {
        entries.add(upper.columns()[k], mirrored(upper.values()[k], symmetry_));
      }
    }
    return row;
  });
}

template <Value V, Index I>
Footprint SymmetricCsr<V, I>::footprint() const {
  return footprint_from<V>(rows(), lower_.nnz(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class SymmetricCsr<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
