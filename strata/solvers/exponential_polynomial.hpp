// Polynomials in place of exponentials, with bounds of their errors: the three methods of
// exponential.hpp, which names their sources, on the host and without a matrix.
#pragma once

#include <complex>

#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/swept_polynomial.hpp"

namespace strata::solvers {

// A polynomial in place of an exponential, with the bound of its error and how much its terms grow
// rounding, both as ExponentialResult::error has them.
struct ExponentialPolynomial {
  SweptPolynomial polynomial = {};
  double error = 0;
  double growth = 1;

  Offset products() const { return Offset{polynomial.degree()} * polynomial.steps; }
};

// e^{tz} or, `imaginary`, e^{−itz}.
struct ExponentialTime {
  double value = 0;
  bool imaginary = false;

  std::complex<double> factor() const {
    return imaginary ? std::complex<double>(0, -value) : std::complex<double>(value, 0);
  }
};

// What a polynomial has to reach.
struct ExponentialDemand {
  double tolerance = 1e-12;
  double epsilon = 2.2e-16;  // of the arithmetic
  int most_degree = 1000;
  // Bounds are wider than the spectrum, and eᵗᶻ may be much larger there: e^{excess} times the
  // largest of the spectrum. Steps in time keep that from costing digits.
  double excess = 0;
};

// The polynomials of the three methods. Chebyshev's is on bounds of the spectrum. Taylor's is
// around `shift`, where `norm` is at least that of A − shift. Leja's heeds a field of values; in
// real arithmetic that has to be symmetric to the real axis. They throw InvalidArgument where even
// with steps no polynomial of this degree is good enough.
ExponentialPolynomial chebyshev_exponential(const ExponentialTime& time,
                                            const ChebyshevInterval& interval,
                                            const ExponentialDemand& demand);
ExponentialPolynomial taylor_exponential(const ExponentialTime& time, std::complex<double> shift,
                                         double norm, const ExponentialDemand& demand);
template <Value V>
ExponentialPolynomial leja_exponential(const ExponentialTime& time, const FieldOfValues& field,
                                       const ExponentialDemand& demand);

// The largest θ for which the Taylor polynomial of degree m is the exponential of a matrix that
// differs by at most `tolerance` of its norm, if that norm is θ: from the power series of
// log(e^{−x} T_m(x)), section 3 of Al-Mohy and Higham.
double taylor_radius(int degree, double tolerance);

}  // namespace strata::solvers
