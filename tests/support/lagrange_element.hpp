// Lagrange polynomials on Gauss–Lobatto nodes and a quadrature for their products, the textbook
// way: the oracle for finite elements.
#pragma once

#include <vector>

namespace strata::test {

// On [−1, 1].
class LagrangeElement {
 public:
  // Degrees 1 to 4.
  explicit LagrangeElement(int degree);

  // So many nodes that a polynomial of the degree is known by its values there.
  const std::vector<double>& nodes() const { return nodes_; }
  // The polynomial that is 1 at node a and 0 at the others, and its derivative.
  double basis(int a, double u) const;
  double slope(int a, double u) const;

  // Gauss' quadrature, exact for products of many of them: Σ weight · f(point).
  const std::vector<double>& points() const { return points_; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  std::vector<double> nodes_;
  std::vector<double> points_;
  std::vector<double> weights_;
};

}  // namespace strata::test
