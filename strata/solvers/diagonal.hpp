// The preconditioner of Jacobi: the inverse of a matrix' diagonal.
#pragma once

#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"

namespace strata::solvers {

// 1 / a_ii for every row, of entries that are stored more than once their sum. Throws
// InvalidArgument for a row without any, or with 0. Rows may be those of a larger matrix from
// `first_row` on.
template <Value V, Index I>
std::vector<V> inverse_diagonal(const Csr<V, I>& matrix, Offset first_row = 0);

}  // namespace strata::solvers
