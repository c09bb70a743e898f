// What every reference kernel does before and around its loop.
#pragma once

#include <fmt/format.h>

#include <span>

#include "strata/base/error.hpp"
#include "strata/base/types.hpp"

namespace strata::reference {

template <class Matrix, Value V, Index I>
void require_shapes(const Matrix& matrix, std::span<const V> x, std::span<V> y, RowRange<I> rows) {
  if (x.size() != static_cast<std::size_t>(matrix.cols())) {
    throw InvalidArgument(
        fmt::format("x has {} elements, the matrix {} columns", x.size(), matrix.cols()));
  }
  if (y.size() != static_cast<std::size_t>(matrix.rows())) {
    throw InvalidArgument(
        fmt::format("y has {} elements, the matrix {} rows", y.size(), matrix.rows()));
  }
  if (rows.begin < 0 || rows.begin > rows.end || rows.end > matrix.rows()) {
    throw InvalidArgument(fmt::format("rows {} … {} are not a range of a matrix with {} rows",
                                      rows.begin, rows.end, matrix.rows()));
  }
}

// β·y, where β = 0 means that y has no old value.
template <Value V>
V scaled(V beta, V y) {
  return beta == V{} ? V{} : beta * y;
}

// y = βy on the rows, for kernels that then add entry by entry.
template <Value V, Index I>
void scale_rows(V beta, std::span<V> y, RowRange<I> rows) {
  for (I row = rows.begin; row < rows.end; ++row) y[row] = scaled(beta, y[row]);
}

}  // namespace strata::reference
