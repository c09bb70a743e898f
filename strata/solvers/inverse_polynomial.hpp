// Polynomials that are near 1/t on a spectrum: p(A) ≈ A⁻¹ as a sum of powers, which a plan computes
// in one sweep. As preconditioners they need no triangular solves and no reductions.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "strata/plans/basis.hpp"
#include "strata/solvers/method.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::solvers {

// p(A)x = Σ coefficients[k] y_k, k = 0 … degree, in the basis.
template <Value V>
struct InversePolynomial {
  Basis basis;
  std::vector<V> coefficients;
  std::string name = {};

  int degree() const { return static_cast<int>(coefficients.size()) - 1; }
};

// For spectra in [low, high], 0 < low: 1 − t p(t) is the Chebyshev polynomial of degree + 1 that is
// 1 at 0, the smallest one there is on the interval. p interpolates 1/t in its zeros.
//   G. H. Golub, R. S. Varga, Chebyshev semi-iterative methods, Numer. Math. 3, 1961
// Throws InvalidArgument for other intervals and negative degrees.
template <Value V>
InversePolynomial<V> chebyshev_inverse(double low, double high, int degree);

// The first terms of Neumann's series, ω Σ (I − ωA)ᵏ: for spectra inside the circle of radius 1/ω
// around 1/ω. Throws InvalidArgument for ω = 0.
//   P. F. Dubois, A. Greenbaum, G. H. Rodrigue, Approximating the inverse of a matrix for use in
//   iterative algorithms on vector processors, Computing 22, 1979
template <Value V>
InversePolynomial<V> neumann_inverse(double omega, int degree);

// The polynomial of GMRES: 1 − t p(t) = Π (1 − t/θ_i) with the harmonic Ritz values of a Krylov
// space as its zeros, of which there are degree + 1, in conjugate pairs for real vectors. For any
// spectrum. Throws InvalidArgument where one of them is 0.
//   J. A. Loe, R. B. Morgan, Toward efficient polynomial preconditioning for GMRES, Numer. Linear
//   Algebra Appl. 29, 2022
template <Value V>
InversePolynomial<V> gmres_inverse(std::vector<std::complex<double>> harmonic_ritz_values);

// The polynomial as an operator. The plan must be for as many powers as its degree, and live as
// long; its basis is set.
template <class Space>
Operator<Space> as_operator(InversePolynomial<typename Space::Value> polynomial,
                            Powers<Space>& powers) {
  if (powers.power() != polynomial.degree()) {
    throw InvalidArgument("a polynomial of another degree than the plan for its powers");
  }
  powers.set_basis(polynomial.basis);
  return [coefficients = std::move(polynomial.coefficients), &powers](typename Space::ConstView x,
                                                                      typename Space::View y) {
    powers.apply_sum(x, coefficients, y);
  };
}

}  // namespace strata::solvers
