#include "strata/io/internal/lower_half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/internal/body.hpp"

namespace strata::detail {

namespace {

// NaN equals NaN here: a file can hold both halves' NaN in one.
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
template <Value V>
bool same_value(V a, V b) {
  return same(std::real(a), std::real(b)) && same(std::imag(a), std::imag(b));
}

// The first position of the row whose entry has no mirror image; the end of the row if all have.
template <Value V, Index I>
Offset first_unmatched(const Csr<V, I>& matrix, I row, Symmetry symmetry, bool pattern) {
  const PatternView<I> view = matrix.pattern();
  Offset k = view.row_offsets[row];
  for (; k < view.row_offsets[row + 1]; ++k) {
    const I column = view.columns[k];
    const V value = matrix.values()[k];
    if (column == row) {
      if (pattern || fits_diagonal(value, symmetry)) continue;
      break;
    }
    const auto mirror_row = view.columns_of(column);
    const auto found = std::ranges::lower_bound(mirror_row, row);
    if (found == mirror_row.end() || *found != row) break;
    const Offset mirror = view.row_offsets[column] + (found - mirror_row.begin());
    if (!pattern && !same_value(matrix.values()[mirror], mirrored(value, symmetry))) break;
  }
  return k;
}

}  // namespace

template <Value V, Index I>
void require_symmetric(const Csr<V, I>& matrix, Symmetry symmetry, bool pattern) {
  if (symmetry == Symmetry::general) return;
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(fmt::format("a {} x {} matrix cannot be written as {}", matrix.rows(),
                                      matrix.cols(), name_of(symmetry)));
  }
  const auto broken = [&](I row) {
    return first_unmatched(matrix, row, symmetry, pattern) != matrix.row_offsets()[row + 1];
  };
  const I first = parallel_reduce(
      matrix.rows(), matrix.rows(),
      [&](Offset begin, Offset end) {
        I row = static_cast<I>(begin);
        while (row < end && !broken(row)) ++row;
        return row < end ? row : matrix.rows();
      },
      [](I a, I b) { return std::min(a, b); });
  if (first == matrix.rows()) return;
  const Offset entry = first_unmatched(matrix, first, symmetry, pattern);
  throw InvalidArgument(fmt::format("the matrix is not {}: see the entry at row {}, column {}",
                                    name_of(symmetry), first, matrix.columns()[entry]));
}

template <Index I>
Array<Offset> stored_offsets(const PatternView<I>& pattern, Symmetry symmetry) {
  Array<Offset> offsets(pattern.row_offsets.begin(), pattern.row_offsets.end());
  if (symmetry == Symmetry::general) return offsets;
  parallel_for(pattern.rows, [&](Offset row) {
    const auto columns = pattern.columns_of(static_cast<I>(row));
    offsets[row] = std::ranges::upper_bound(columns, static_cast<I>(row)) - columns.begin();
  });
  offsets[pattern.rows] = 0;
  exclusive_scan(offsets);
  return offsets;
}

#define STRATA_INSTANTIATE_INDEX(I) \
  template Array<Offset> stored_offsets(const PatternView<I>&, Symmetry)
#define STRATA_INSTANTIATE(V, I) template void require_symmetric(const Csr<V, I>&, Symmetry, bool)
STRATA_FOR_EACH_INDEX(STRATA_INSTANTIATE_INDEX);
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
