#include "tests/support/lagrange_element.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace strata::test {

LagrangeElement::LagrangeElement(int degree) {
  switch (degree) {
    case 1: nodes_ = {-1, 1}; break;
    case 2: nodes_ = {-1, 0, 1}; break;
    case 3: nodes_ = {-1, -0.4472135954999579, 0.4472135954999579, 1}; break;
    default: nodes_ = {-1, -0.6546536707079771, 0, 0.6546536707079771, 1};
  }
  // Golub and Welsch: Gauss points are the eigenvalues of the Jacobi matrix.
  const int points = 8;
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(points, points);
  for (int i = 1; i < points; ++i) {
    jacobi(i, i - 1) = jacobi(i - 1, i) = i / std::sqrt(4.0 * i * i - 1);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(jacobi);
  for (int p = 0; p < points; ++p) {
    points_.push_back(solver.eigenvalues()(p));
    weights_.push_back(2 * std::pow(solver.eigenvectors()(0, p), 2));
  }
}

double LagrangeElement::basis(int a, double u) const {
  double product = 1;
  for (int b = 0; b < std::ssize(nodes_); ++b) {
    if (b != a) product *= (u - nodes_[b]) / (nodes_[a] - nodes_[b]);
  }
  return product;
}

double LagrangeElement::slope(int a, double u) const {
  double sum = 0;
  for (int c = 0; c < std::ssize(nodes_); ++c) {
    if (c == a) continue;
    double product = 1 / (nodes_[a] - nodes_[c]);
    for (int b = 0; b < std::ssize(nodes_); ++b) {
      if (b != a && b != c) product *= (u - nodes_[b]) / (nodes_[a] - nodes_[b]);
    }
    sum += product;
  }
  return sum;
}

}  // namespace strata::test
