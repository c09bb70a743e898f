// Eigen's answers, as Strata's types: the independent library that products, transposes and
// reorderings are compared with. Eigen's templates are compiled once, in by_eigen.cpp.
#pragma once

#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/order/permutation.hpp"

namespace strata::test {

// αAx + βy
template <Value V, Index I>
std::vector<V> product_by_eigen(const Csr<V, I>& matrix, V alpha, const std::vector<V>& x, V beta,
                                const std::vector<V>& y);

template <Value V, Index I>
Csr<V, I> transposed_by_eigen(const Csr<V, I>& matrix);

// PA, and PAPᵀ for square matrices.
template <Value V, Index I>
Csr<V, I> permuted_rows_by_eigen(const Csr<V, I>& matrix, const Permutation<I>& order);
template <Value V, Index I>
Csr<V, I> permuted_by_eigen(const Csr<V, I>& matrix, const Permutation<I>& order);

}  // namespace strata::test
