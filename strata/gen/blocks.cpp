#include "strata/gen/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/coefficients.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

MatrixShape shape_with_blocks(const MatrixShape& base, Offset dof) {
  if (dof < 1) throw InvalidArgument(fmt::format("a row cannot have {} unknowns", dof));
  return {checked_multiply(dof, base.rows, "the number of rows"),
          checked_multiply(dof, base.cols, "the number of columns")};
}

template <Value V, Index I>
RowSource<V, I> rows_with_blocks(std::shared_ptr<const Csr<V, I>> base, Offset dof,
                                 std::uint64_t seed) {
  const MatrixShape shape = shape_with_blocks({base->rows(), base->cols()}, dof);
  const I cols = narrow<I>(shape.cols, "the number of columns");
  require_countable<V, I>(dof, checked_multiply(dof, base->nnz(), "the number of entries"));

  const Random random(seed);
  const auto row = [base, random, dof, cols](Offset i, auto&& emit) {
    const Csr<V, I>& matrix = *base;
    const Offset own = i / dof;
    for (Offset k = matrix.row_offsets()[own]; k < matrix.row_offsets()[own + 1]; ++k) {
      const Offset first = matrix.columns()[k] * dof;
      for (Offset j = first; j < first + dof; ++j) {
        const auto low = static_cast<std::uint64_t>(std::min(i, j));
        const auto high = static_cast<std::uint64_t>(std::max(i, j));
        const double factor = 0.5 + random.uniform(low * static_cast<std::uint64_t>(cols) + high);
        emit(j, matrix.values()[k] * to_value<V>(factor));
      }
    }
  };
  const auto length = [base, dof](Offset i) {
    return dof * base->pattern().row_length(static_cast<I>(i / dof));
  };
  return {.shape = shape,
          // Factors are positive and mirrored at the diagonal.
          .character = [base] { return character_of(*base); },
          .make =
              [cols, length, row](const RowSelection<I>& selection) {
                return build_rows<V, I>(selection, cols, length, row);
              }};
}

template <Value V, Index I>
Csr<V, I> with_dense_blocks(const Csr<V, I>& matrix, Offset dof, std::uint64_t seed) {
  const RowSource<V, I> source = rows_with_blocks(borrowed(matrix), dof, seed);
  return source.make({0, source.shape.rows});
}

#define STRATA_INSTANTIATE(V, I)                                                      \
  template RowSource<V, I> rows_with_blocks(std::shared_ptr<const Csr<V, I>>, Offset, \
                                            std::uint64_t);                           \
  template Csr<V, I> with_dense_blocks(const Csr<V, I>&, Offset, std::uint64_t)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
