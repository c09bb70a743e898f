#include "strata/solvers/block_jacobi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/solvers/dense.hpp"

namespace strata::solvers {

template <Value V, Index I>
Array<V> block_inverses(const Csr<V, I>& matrix, int block_rows, Offset first_row) {
  if (block_rows < 1 || block_rows > kMostBlockRows) {
    throw InvalidArgument(fmt::format("blocks of {} rows on the diagonal; they have 1 to {}",
                                      block_rows, kMostBlockRows));
  }
  const Offset rows = matrix.rows(), blocks = (rows + block_rows - 1) / block_rows;
  const Offset square = Offset{block_rows} * block_rows;
  Array<V> inverses(
      static_cast<std::size_t>(checked_multiply(blocks, square, "blocks on the diagonal")));
  parallel_dynamic(blocks, 64, [&](Offset begin, Offset end) {
    for (Offset block = begin; block < end; ++block) {
      const I first = static_cast<I>(block * block_rows);
      const int size = static_cast<int>(std::min<Offset>(block_rows, rows - first));
      Dense<Wide<V>> of(size, size);
      for (int i = 0; i < size; ++i) {
        const auto row = static_cast<std::size_t>(first) + static_cast<std::size_t>(i);
        for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
          const Offset j =
              Offset{matrix.columns()[static_cast<std::size_t>(k)]} - first_row - first;
          if (j >= 0 && j < size) {
            of(i, static_cast<int>(j)) += Wide<V>(matrix.values()[static_cast<std::size_t>(k)]);
          }
        }
      }
      const Dense<Wide<V>> inverse = solve(of, Dense<Wide<V>>::identity(size));
      V* const into = inverses.data() + block * square;
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) {
          const V value = narrowed<V>(inverse(i, j));
          if (!std::isfinite(std::abs(value))) {
            throw InvalidArgument(fmt::format(
                "the block of {} rows on the diagonal from row {} on is singular: nothing to "
                "divide by",
                size, first_row + first + 1));
          }
          into[i * size + j] = value;
        }
      }
    }
  });
  return inverses;
}

template <Value V, Index I>
BlockJacobi<V, I>::BlockJacobi(const Csr<V, I>& matrix, int block_rows, const PaddedOrder<I>& order)
    : block_rows_(block_rows),
      rows_(matrix.rows()),
      inverses_(block_inverses(matrix, block_rows)),
      position_of_(static_cast<std::size_t>(rows_)) {
  for (I row = 0; row < rows_; ++row) {
    position_of_[static_cast<std::size_t>(row)] = order.position_of(row);
  }
}

template <Value V, Index I>
BlockJacobi<V, I>::BlockJacobi(const Csr<V, I>& matrix, int block_rows, Offset first_row)
    : block_rows_(block_rows),
      rows_(matrix.rows()),
      inverses_(block_inverses(matrix, block_rows, first_row)),
      position_of_(static_cast<std::size_t>(rows_)) {
  std::iota(position_of_.begin(), position_of_.end(), I(0));
}

template <Value V, Index I>
void BlockJacobi<V, I>::apply(std::span<const V> x, std::span<V> y) const {
  const Offset square = Offset{block_rows_} * block_rows_;
  const Offset blocks = (Offset{rows_} + block_rows_ - 1) / block_rows_;
  if (std::ssize(y) > rows_) std::fill(y.begin(), y.end(), V(0));
  parallel_for(blocks, [&](Offset block) {
    const Offset first = block * block_rows_;
    const int size = static_cast<int>(std::min<Offset>(block_rows_, Offset{rows_} - first));
    const I* const positions = position_of_.data() + first;
    const V* of_row = inverses_.data() + block * square;
    for (int i = 0; i < size; ++i, of_row += size) {
      V sum = V(0);
      for (int j = 0; j < size; ++j) sum += of_row[j] * x[static_cast<std::size_t>(positions[j])];
      y[static_cast<std::size_t>(positions[i])] = sum;
    }
  });
}

#define STRATA_INSTANTIATE(V, I)                                   \
  template Array<V> block_inverses(const Csr<V, I>&, int, Offset); \
  template class BlockJacobi<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
