// The reference kernels: y = αAx + βy on a range of rows, in the most obvious way, for every
// format. They are the oracle that all other kernels are tested against and are never optimised.
//
// x has matrix.cols() elements, y matrix.rows(); only y[rows.begin … rows.end) is touched. With
// β = 0 the old y is not read, so it may hold anything, NaN included. Padding is never multiplied.
// Vectors of the wrong length or a range outside the matrix throw InvalidArgument.
#pragma once

#include <span>
#include <type_traits>

#include "strata/base/types.hpp"
#include "strata/formats/registry.hpp"

namespace strata::reference {

// The vectors are not part of template deduction: the matrix alone decides V and I.
template <class V>
using Input = std::type_identity_t<std::span<const V>>;
template <class V>
using Output = std::type_identity_t<std::span<V>>;
template <class T>
using Given = std::type_identity_t<T>;

#define STRATA_DECLARE(enumerator, type, name, label)                                         \
  template <Value V, Index I>                                                                 \
  void spmv(const type<V, I>& matrix, Given<V> alpha, Input<V> x, Given<V> beta, Output<V> y, \
            Given<RowRange<I>> rows);
STRATA_FOR_EACH_FORMAT(STRATA_DECLARE)
#undef STRATA_DECLARE

// The whole product.
template <class Matrix>
void spmv(const Matrix& matrix, typename Matrix::value_type alpha,
          Input<typename Matrix::value_type> x, typename Matrix::value_type beta,
          Output<typename Matrix::value_type> y) {
  spmv(matrix, alpha, x, beta, y, matrix.all_rows());
}

}  // namespace strata::reference
