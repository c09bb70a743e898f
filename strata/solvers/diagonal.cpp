#include "strata/solvers/diagonal.hpp"

#include <fmt/format.h>

#include <complex>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata::solvers {

template <Value V, Index I>
std::vector<V> inverse_diagonal(const Csr<V, I>& matrix, Offset first_row) {
  std::vector<V> inverse(static_cast<std::size_t>(matrix.rows()), V(0));
  for (I row = 0; row < matrix.rows(); ++row) {
    V& sum = inverse[static_cast<std::size_t>(row)];
    for (Offset k = matrix.row_offsets()[static_cast<std::size_t>(row)];
         k < matrix.row_offsets()[static_cast<std::size_t>(row) + 1]; ++k) {
      if (matrix.columns()[static_cast<std::size_t>(k)] == first_row + row) {
        sum += matrix.values()[static_cast<std::size_t>(k)];
      }
    }
    if (sum == V(0)) {
      throw InvalidArgument(
          fmt::format("row {} has no diagonal to divide by, as the preconditioner jacobi does",
                      first_row + row + 1));
    }
    sum = V(1) / sum;
  }
  return inverse;
}

#define STRATA_INSTANTIATE(V, I) template std::vector<V> inverse_diagonal(const Csr<V, I>&, Offset)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
