#include "strata/gen/extrude.hpp"

#include <fmt/format.h>

#include "strata/base/instantiate.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

template <Value V, Index I>
Csr<V, I> extruded(const Csr<V, I>& matrix, Offset layers) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix cannot be extruded", matrix.rows(), matrix.cols()));
  }
  if (layers < 1) throw InvalidArgument(fmt::format("a matrix cannot have {} layers", layers));
  const Offset size = matrix.rows();
  const Offset rows = checked_multiply(layers, size, "the number of rows");
  const I order = narrow<I>(rows, "the number of rows");
  require_countable<V, I>(layers, matrix.nnz() + 3 * size);

  const auto row = [&matrix, layers, size](Offset i, auto&& emit) {
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
  return build_rows<V, I>(order, order, row);
}

#define STRATA_INSTANTIATE(V, I) template Csr<V, I> extruded(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
