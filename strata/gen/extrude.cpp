#include "strata/gen/extrude.hpp"

#include <fmt/format.h>

#include "strata/base/instantiate.hpp"
#include "strata/gen/coefficients.hpp"
#include "strata/gen/recipe.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

MatrixShape extruded_shape(const MatrixShape& base, Offset layers) {
  if (base.rows != base.cols) {
    throw InvalidArgument(fmt::format("a {} x {} matrix cannot be extruded", base.rows, base.cols));
  }
  if (layers < 1) throw InvalidArgument(fmt::format("a matrix cannot have {} layers", layers));
  const Offset order = checked_multiply(layers, base.rows, "the number of rows");
  return {order, order};
}

template <Value V, Index I>
RowSource<V, I> extruded_rows(std::shared_ptr<const Csr<V, I>> base, Offset layers) {
  const Offset size = base->rows();
  const MatrixShape shape = extruded_shape({size, base->cols()}, layers);
  const I order = narrow<I>(shape.rows, "the number of rows");
  require_countable<V, I>(layers, base->nnz() + 3 * size);

  const auto row = [base, layers, size](Offset i, auto&& emit) {
    const Csr<V, I>& matrix = *base;
    const Offset layer = i / size;
    const Offset own = i % size;
    const Offset first = layer * size;
    if (layer > 0) emit(i - size, V(-1));
    bool has_diagonal = false;
    for (Offset k = matrix.row_offsets()[own]; k < matrix.row_offsets()[own + 1]; ++k) {
      const Offset column = matrix.columns()[k];
      if (column >= own && !has_diagonal) {
        has_diagonal = true;
        emit(i, column == own ? matrix.values()[k] + V(2) : V(2));
      }
      if (column != own) emit(first + column, matrix.values()[k]);
    }
    if (!has_diagonal) emit(i, V(2));
    if (layer + 1 < layers) emit(i + size, V(-1));
  };
  return {.shape = shape,
          // T adds the same symmetric entries to every layer.
          .character = [base] { return character_of(extruded(*base, 1)); },
          .make =
              [order, row](const RowSelection<I>& selection) {
                return build_rows<V, I>(selection, order, row);
              }};
}

template <Value V, Index I>
Csr<V, I> extruded(const Csr<V, I>& matrix, Offset layers) {
  const RowSource<V, I> source = extruded_rows(borrowed(matrix), layers);
  return source.make({0, source.shape.rows});
}

#define STRATA_INSTANTIATE(V, I)                                                    \
  template RowSource<V, I> extruded_rows(std::shared_ptr<const Csr<V, I>>, Offset); \
  template Csr<V, I> extruded(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
