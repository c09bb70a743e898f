// Chebyshev series of functions on an interval, on the host: coefficients of exponentials, of
// φ-functions and of windows, and damping.
//
//   f(x) = Σ c_k T_k((x − centre) / radius)
#pragma once

#include <complex>
#include <functional>
#include <vector>

namespace strata::solvers {

struct ChebyshevInterval {
  double low = -1;
  double high = 1;

  double centre() const { return (low + high) / 2; }
  double radius() const { return (high - low) / 2; }
};

// e^{−|x|} I_k(x), k = 0 … count − 1, and J_k(x): modified Bessel functions without their growth,
// and Bessel functions, by the recurrence from large k down (Miller's algorithm; F. W. J. Olver,
// Math. Comp. 18, 1964). Values too small for a double are 0.
std::vector<double> scaled_bessel_i(double x, int count);
std::vector<double> bessel_j(double x, int count);

// How many terms the series of e^{tx} needs on an interval of this radius, so that what is left out
// is at most `tolerance` of its largest value: from the sum of the Bessel functions that are left
// out. Throws InvalidArgument if that is more than `most`.
int exponential_degree(double time_radius, bool imaginary, double tolerance, int most);

// e^{tx} by at most `degree`; what is left out is at most `remainder` of e^{exponent}, by which the
// coefficients are divided, so that they do not overflow.
struct ExponentialSeries {
  std::vector<double> coefficients;
  double exponent = 0;
  double remainder = 0;
};
ExponentialSeries exponential_series(double time, const ChebyshevInterval& interval, int degree);
// e^{−itx}, up to the factor e^{−it·centre}, which is included.
struct PhaseSeries {
  std::vector<std::complex<double>> coefficients;
  double remainder = 0;
};
PhaseSeries phase_series(double time, const ChebyshevInterval& interval, int degree);

// φ_0(z) = eᶻ, φ_k(z) = (φ_{k−1}(z) − 1/(k − 1)!) / z: what exponential integrators need.
double phi(int k, double z);
// φ_k(tx), by interpolation at Chebyshev points that are twice as many as the degree; the remainder
// is the sum of the coefficients beyond it.
ExponentialSeries phi_series(int k, double time, const ChebyshevInterval& interval, int degree);

// 1 inside [low, high], 0 outside.
std::vector<double> window_series(const ChebyshevInterval& window,
                                  const ChebyshevInterval& interval, int degree);

// Factors g_0 … g_{count−1} that keep series of discontinuous functions from oscillating, and
// non-negative ones non-negative.
//   A. Weiße, G. Wellein, A. Alvermann, H. Fehske, The kernel polynomial method, Rev. Mod. Phys.
//   78, 2006, equation 71
std::vector<double> jackson_damping(int count);

}  // namespace strata::solvers
