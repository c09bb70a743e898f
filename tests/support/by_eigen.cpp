#include "tests/support/by_eigen.hpp"

#include "strata/base/instantiate.hpp"
#include "tests/support/eigen.hpp"

namespace strata::test {

namespace {

template <Value V>
using Sparse = Eigen::SparseMatrix<V, Eigen::RowMajor, std::int64_t>;

template <Value V, Index I>
Csr<V, I> from_eigen(Sparse<V> matrix) {
  matrix.makeCompressed();
  const std::int64_t* offsets = matrix.outerIndexPtr();
  Array<I> columns(matrix.nonZeros());
  for (Offset k = 0; k < matrix.nonZeros(); ++k) {
    columns[k] = static_cast<I>(matrix.innerIndexPtr()[k]);
  }
  return Csr<V, I>(static_cast<I>(matrix.rows()), static_cast<I>(matrix.cols()),
                   Array<Offset>(offsets, offsets + matrix.rows() + 1), std::move(columns),
                   Array<V>(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros()));
}

template <Index I>
auto to_eigen(const Permutation<I>& order) {
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int64_t> result(order.size());
  for (I i = 0; i < order.size(); ++i) result.indices()[order.old_of(i)] = i;
  return result;
}

}  // namespace

template <Value V, Index I>
std::vector<V> product_by_eigen(const Csr<V, I>& matrix, V alpha, const std::vector<V>& x, V beta,
                                const std::vector<V>& y) {
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
  const Eigen::Map<const Vector> x_map(x.data(), static_cast<Eigen::Index>(x.size()));
  const Eigen::Map<const Vector> y_map(y.data(), static_cast<Eigen::Index>(y.size()));
  const Vector ax = to_eigen(matrix) * x_map;
  const Vector result = alpha * ax + beta * y_map;
  return std::vector<V>(result.data(), result.data() + result.size());
}

template <Value V, Index I>
Csr<V, I> transposed_by_eigen(const Csr<V, I>& matrix) {
  return from_eigen<V, I>(to_eigen(matrix).transpose());
}

template <Value V, Index I>
Csr<V, I> permuted_rows_by_eigen(const Csr<V, I>& matrix, const Permutation<I>& order) {
  return from_eigen<V, I>(to_eigen(order) * to_eigen(matrix));
}

template <Value V, Index I>
Csr<V, I> permuted_by_eigen(const Csr<V, I>& matrix, const Permutation<I>& order) {
  const auto p = to_eigen(order);
  const Sparse<V> rows = p * to_eigen(matrix);
  // Eigen leaves the columns of a permuted matrix unsorted; transposing twice sorts them.
  const Eigen::SparseMatrix<V, Eigen::ColMajor, std::int64_t> both = rows * p.transpose();
  return from_eigen<V, I>(Sparse<V>(both));
}

#define STRATA_INSTANTIATE(V, I)                                                          \
  template std::vector<V> product_by_eigen(const Csr<V, I>&, V, const std::vector<V>&, V, \
                                           const std::vector<V>&);                        \
  template Csr<V, I> transposed_by_eigen(const Csr<V, I>&);                               \
  template Csr<V, I> permuted_rows_by_eigen(const Csr<V, I>&, const Permutation<I>&);     \
  template Csr<V, I> permuted_by_eigen(const Csr<V, I>&, const Permutation<I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::test
