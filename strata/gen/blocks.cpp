#include "strata/gen/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/base/random.hpp"
#include "strata/gen/rowwise.hpp"

namespace strata {

template <Value V, Index I>
Csr<V, I> with_dense_blocks(const Csr<V, I>& matrix, Offset dof, std::uint64_t seed) {
  if (dof < 1) throw InvalidArgument(fmt::format("a row cannot have {} unknowns", dof));
  const I rows =
      narrow<I>(checked_multiply(dof, matrix.rows(), "the number of rows"), "the number of rows");
  const I cols = narrow<I>(checked_multiply(dof, matrix.cols(), "the number of columns"),
                           "the number of columns");
  require_countable<V, I>(dof, checked_multiply(dof, matrix.nnz(), "the number of entries"));

  const Random random(seed);
  const auto row = [&matrix, random, dof, cols](Offset i, auto&& emit) {
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
  const auto length = [&matrix, dof](Offset i) {
    return dof * matrix.pattern().row_length(static_cast<I>(i / dof));
  };
  return build_rows<V, I>(rows, cols, length, row);
}

#define STRATA_INSTANTIATE(V, I) \
  template Csr<V, I> with_dense_blocks(const Csr<V, I>&, Offset, std::uint64_t)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
