#include "strata/formats/symmetric_csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/collect.hpp"

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

template <Value V, Index I>
bool has_mirror_image(const Csr<V, I>& matrix, I row, Offset k, Symmetry symmetry) {
  const I column = matrix.columns()[k];
  const auto candidates = matrix.pattern().columns_of(column);
  const auto found = std::ranges::lower_bound(candidates, row);
  if (found == candidates.end() || *found != row) return false;
  const Offset mirror = matrix.row_offsets()[column] + (found - candidates.begin());
  return matrix.values()[k] == mirrored(matrix.values()[mirror], symmetry);
}

// The first row with an entry that bad(row, k) finds, and that entry's position in the matrix.
template <Index I>
struct BadEntry {
  I row = std::numeric_limits<I>::max();
  Offset position = 0;
};

template <Value V, Index I, class Bad>
BadEntry<I> find_first(const Csr<V, I>& matrix, Bad&& bad) {
  return parallel_reduce(
      matrix.rows(), BadEntry<I>{},
      [&](Offset begin, Offset end) {
        for (I row = static_cast<I>(begin); row < end; ++row) {
          for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
            if (bad(row, k)) return BadEntry<I>{row, k};
          }
        }
        return BadEntry<I>{};
      },
      [](const BadEntry<I>& a, const BadEntry<I>& b) { return a.row <= b.row ? a : b; });
}

// Throws, naming the first entry that is bad, if there is one.
template <Value V, Index I, class Bad>
void require_none(const Csr<V, I>& matrix, std::string_view what, Symmetry symmetry, Bad&& bad) {
  const BadEntry<I> first = find_first(matrix, bad);
  if (first.row < matrix.rows()) {
    throw InvalidMatrix(fmt::format("entry ({}, {}) {} a {} matrix", first.row,
                                    matrix.columns()[first.position], what, name_of(symmetry)));
  }
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
  require_none(lower_, "is above the diagonal of the stored half of", symmetry,
               [&](I row, Offset k) { return columns()[k] > row; });
  require_none(lower_, "cannot be on the diagonal of", symmetry, [&](I row, Offset k) {
    return columns()[k] == row && values()[k] != mirrored(values()[k], symmetry);
  });
  const Offset diagonal = parallel_reduce(
      lower_.rows(), Offset{0},
      [&](Offset begin, Offset end) {
        Offset count = 0;
        for (I row = static_cast<I>(begin); row < end; ++row) {
          const auto row_columns = lower_.pattern().columns_of(row);
          if (!row_columns.empty() && row_columns.back() == row) ++count;
        }
        return count;
      },
      std::plus<>{});
  nnz_ = 2 * lower_.nnz() - diagonal;
}

template <Value V, Index I>
SymmetricCsr<V, I> SymmetricCsr<V, I>::from_csr(const Csr<V, I>& matrix, Symmetry symmetry) {
  require_square_and_symmetry(matrix, symmetry);
  require_none(matrix, "lacks its mirror image in", symmetry,
               [&](I row, Offset k) { return !has_mirror_image(matrix, row, k, symmetry); });
  const PatternView<I> pattern = matrix.pattern();
  auto lower = collect_rows<V, I>(matrix.rows(), matrix.cols(), [&](I row, auto&& take) {
    const Offset begin = pattern.row_offsets[row];
    const Offset end = begin + lower_length(pattern, row);
    for (Offset k = begin; k < end; ++k) take(pattern.columns[k], matrix.values()[k]);
  });
  return SymmetricCsr(std::move(lower), symmetry);
}

template <Value V, Index I>
Footprint SymmetricCsr<V, I>::footprint_of(const Csr<V, I>& matrix) {
  const Offset stored = parallel_reduce(
      matrix.rows(), Offset{0},
      [&](Offset begin, Offset end) {
        Offset count = 0;
        for (I row = static_cast<I>(begin); row < end; ++row) {
          count += lower_length(matrix.pattern(), row);
        }
        return count;
      },
      std::plus<>{});
  return footprint_from<V>(matrix.rows(), stored, matrix.nnz());
}

template <Value V, Index I>
Csr<V, I> SymmetricCsr<V, I>::to_csr() const {
  const Csr<V, I> upper = transposed(lower_);
  return collect_rows<V, I>(rows(), cols(), [&](I row, auto&& take) {
    for (Offset k = row_offsets()[row]; k < row_offsets()[row + 1]; ++k) {
      take(columns()[k], values()[k]);
    }
    for (Offset k = upper.row_offsets()[row]; k < upper.row_offsets()[row + 1]; ++k) {
      if (upper.columns()[k] != row) {
        take(upper.columns()[k], mirrored(upper.values()[k], symmetry_));
      }
    }
  });
}

template <Value V, Index I>
Footprint SymmetricCsr<V, I>::footprint() const {
  return footprint_from<V>(rows(), lower_.nnz(), nnz_);
}

#define STRATA_INSTANTIATE(V, I) template class SymmetricCsr<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
