// A Strata matrix as one of Eigen's.
#pragma once

#include <Eigen/SparseCore>
#include <vector>

#include "strata/formats/csr.hpp"

namespace strata::test {

template <Value V, Index I>
Eigen::SparseMatrix<V, Eigen::RowMajor, std::int64_t> to_eigen(const Csr<V, I>& matrix) {
  Eigen::SparseMatrix<V, Eigen::RowMajor, std::int64_t> result(matrix.rows(), matrix.cols());
  std::vector<Eigen::Triplet<V, std::int64_t>> triplets;
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      triplets.emplace_back(row, matrix.columns()[k], matrix.values()[k]);
    }
  }
  result.setFromTriplets(triplets.begin(), triplets.end());
  return result;
}

}  // namespace strata::test
