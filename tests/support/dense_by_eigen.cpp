#include "tests/support/dense_by_eigen.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <unsupported/Eigen/MatrixFunctions>

namespace strata::test {

template <class V>
Eigen::VectorXd hermitian_eigenvalues(const Full<V>& matrix) {
  return Eigen::SelfAdjointEigenSolver<Full<V>>(matrix, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(matrix, /*computeEigenvectors=*/false).eigenvalues();
}

template <class V>
FullVector<V> solution(const Full<V>& matrix, const FullVector<V>& right) {
  return matrix.fullPivLu().solve(right);
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& matrix) {
  return matrix.inverse();
}

Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a * b;
}

template <class V>
Full<V> exponential(const Full<V>& matrix) {
  return matrix.exp();
}

#define STRATA_INSTANTIATE(V)                                            \
  template Eigen::VectorXd hermitian_eigenvalues(const Full<V>&);        \
  template FullVector<V> solution(const Full<V>&, const FullVector<V>&); \
  template Full<V> exponential(const Full<V>&)
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<double>);

}  // namespace strata::test
