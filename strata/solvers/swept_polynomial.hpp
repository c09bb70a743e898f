// A polynomial of a matrix times a vector, once or several times in a row, each time as one sweep
// of powers that keeps a few of them and adds up the sum on its way.
//
//   x ← Σ c_k p_k(A) x,  k = 0 … degree
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/plans/basis.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::solvers {

struct SweptPolynomial {
  Basis basis = Basis::monomial();
  std::vector<std::complex<double>> coefficients = {};  // of real vectors, real ones
  int steps = 1;                                        // how often it is applied

  int degree() const { return static_cast<int>(coefficients.size()) - 1; }
};

// The coefficients as vectors have them. Throws InvalidArgument where one is too large for them.
template <Value V>
std::vector<V> coefficients_of(const SweptPolynomial& polynomial) {
  using Real = decltype(std::abs(V()));
  std::vector<V> values;
  for (const std::complex<double>& coefficient : polynomial.coefficients) {
    const Real real = static_cast<Real>(coefficient.real());
    const Real imaginary = static_cast<Real>(coefficient.imag());
    if (!std::isfinite(real) || !std::isfinite(imaginary)) {
      throw InvalidArgument("the function of the matrix overflows");
    }
    if constexpr (is_complex<V>) {
      values.emplace_back(real, imaginary);
    } else {
      values.push_back(real);
    }
  }
  return values;
}

// Applies it to `x`, with powers().power() == degree() and `other` of the same size; the result is
// in `x` at the end. Calls `progress(step)` after each; false ends it. Returns the steps done.
template <class Space>
int apply_steps(Powers<Space>& powers, const SweptPolynomial& polynomial, typename Space::View& x,
                typename Space::View& other, const std::function<bool(int)>& progress) {
  const auto coefficients = coefficients_of<typename Space::Value>(polynomial);
  powers.set_basis(polynomial.basis);
  for (int step = 1; step <= polynomial.steps; ++step) {
    powers.apply_sum(x, coefficients, other);
    std::swap(x, other);
    if (progress && !progress(step) && step < polynomial.steps) return step;
  }
  return polynomial.steps;
}

}  // namespace strata::solvers
