// Eigen's answers about dense matrices, to compare with. Its decompositions are compiled once, in
// dense_by_eigen.cpp: a file with one of its own takes half a minute.
#pragma once

#include <Eigen/Core>

#include "strata/formats/csr.hpp"

namespace strata::test {

template <class V>
using Full = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic>;
template <class V>
using FullVector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

// All elements of a matrix.
template <Value V, Index I>
Full<V> dense(const Csr<V, I>& matrix) {
  Full<V> full = Full<V>::Zero(matrix.rows(), matrix.cols());
  for (I row = 0; row < matrix.rows(); ++row) {
    for (Offset k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      full(row, matrix.columns()[k]) = matrix.values()[k];
    }
  }
  return full;
}

// The rest is for V = double and std::complex<double>.

// Of a Hermitian matrix, ascending.
template <class V>
Eigen::VectorXd hermitian_eigenvalues(const Full<V>& matrix);
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix);

// A⁻¹b, by LU factors with all pivots to choose from.
template <class V>
FullVector<V> solution(const Full<V>& matrix, const FullVector<V>& right);
Eigen::MatrixXd inverse(const Eigen::MatrixXd& matrix);
// Where tests are not optimised Eigen's own takes long.
Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

// By scaling and squaring.
template <class V>
Full<V> exponential(const Full<V>& matrix);

}  // namespace strata::test
