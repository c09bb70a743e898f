// Coefficients against other ways to compute them: the library's Bessel functions, dense sums.

#include "strata/solvers/chebyshev_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace strata::solvers {
namespace {

template <class Number>
Number value_at(const std::vector<Number>& coefficients, const ChebyshevInterval& interval,
                double x) {
  const double angle = std::acos((x - interval.centre()) / interval.radius());
  Number sum(0);
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    sum += coefficients[k] * std::cos(static_cast<double>(k) * angle);
  }
  return sum;
}

TEST(ChebyshevSeries, BesselFunctionsAreThoseOfTheStandardLibrary) {
  for (const double x : {1e-12, 1e-3, 0.7, 5.0, 40.0, 300.0}) {
    const auto i = scaled_bessel_i(x, 30), j = bessel_j(x, 30);
    for (int k = 0; k < 30; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double of_i = std::cyl_bessel_i(k, x) * std::exp(-x);
      EXPECT_NEAR(i[at], of_i, 1e-11 * of_i + 1e-300) << k << " " << x;
      EXPECT_NEAR(j[at], std::cyl_bessel_j(k, x), 1e-13) << k << " " << x;
    }
  }
  const auto positive = scaled_bessel_i(2, 4), negative = scaled_bessel_i(-2, 4);
  EXPECT_EQ(negative[2], positive[2]);
  EXPECT_EQ(negative[3], -positive[3]);
  EXPECT_EQ(bessel_j(0, 3), (std::vector<double>{1, 0, 0}));
}

TEST(ChebyshevSeries, ExponentialsAreWithinTheirRemainder) {
  const ChebyshevInterval interval{-3, 7};
  for (const double time : {-4.0, -0.3, 0.0, 1e-9, 1.0, 30.0}) {
    for (const double tolerance : {1e-4, 1e-13}) {
      const int degree = exponential_degree(time * interval.radius(), false, tolerance, 1000);
      const auto real = exponential_series(time, interval, degree);
      EXPECT_LE(real.remainder, tolerance);
      const int turns = exponential_degree(time * interval.radius(), true, tolerance, 1000);
      const auto phase = phase_series(time, interval, turns);
      EXPECT_LE(phase.remainder, tolerance);
      for (double x = -3; x <= 7; x += 0.37) {
        EXPECT_NEAR(value_at(real.coefficients, interval, x), std::exp(time * x - real.exponent),
                    real.remainder + 2e-14);
        EXPECT_LE(std::abs(value_at(phase.coefficients, interval, x) - std::polar(1.0, -time * x)),
                  phase.remainder + 2e-13);
      }
    }
  }
  EXPECT_EQ(exponential_degree(1e5, true, 1e-10, 100), 101);
}

TEST(ChebyshevSeries, TheDegreeIsNoLargerThanItNeedsToBe) {
  const int degree = exponential_degree(50, false, 1e-10, 1000);
  EXPECT_GT(exponential_series(1, {-50, 50}, degree - 1).remainder, 1e-10);
}

TEST(ChebyshevSeries, PhiFunctionsAreTheirDefinition) {
  for (int k = 1; k <= 5; ++k) {
    double factorial = 1;
    for (int i = 1; i <= k; ++i) factorial *= i;
    EXPECT_NEAR(phi(k, 0), 1 / factorial, 1e-16);
    for (const double z : {-300.0, -20.0, -3.0, -0.4, -1e-7, 1e-5, 0.9, 12.0}) {
      // zφ_k(z) + 1/(k − 1)! = φ_{k−1}(z), without cancellation in one of its forms.
      const double before = phi(k - 1, z);
      EXPECT_NEAR(z * phi(k, z) + k / factorial, before, 4e-15 * (1 + std::abs(before)))
          << k << " " << z;
    }
  }
  EXPECT_NEAR(phi(1, -1e-3), std::expm1(-1e-3) / -1e-3, 1e-15);
  const ChebyshevInterval interval{-200, 1};
  const auto series = phi_series(2, 1, interval, 120);
  EXPECT_LT(series.remainder, 1e-12);
  for (double x = -200; x <= 1; x += 3.3) {
    EXPECT_NEAR(value_at(series.coefficients, interval, x), phi(2, x), 1e-13);
  }
}

TEST(ChebyshevSeries, DampedWindowsAreOneInsideAndZeroOutside) {
  const ChebyshevInterval interval{0, 10}, window{3, 5};
  const int degree = 400;
  auto coefficients = window_series(window, interval, degree);
  const auto damping = jackson_damping(degree + 1);
  EXPECT_NEAR(damping[0], 1, 1e-15);
  for (std::size_t k = 0; k < damping.size(); ++k) coefficients[k] *= damping[k];
  for (double x = 0.01; x < 10; x += 0.05) {
    const double value = value_at(coefficients, interval, x);
    EXPECT_GE(value, -1e-3);
    EXPECT_LE(value, 1 + 1e-3);
    if (x < 2.8 || x > 5.2) {
      EXPECT_LT(value, 1e-3);
    }
    if (x > 3.2 && x < 4.8) {
      EXPECT_GT(value, 1 - 1e-3);
    }
  }
  EXPECT_NEAR(value_at(coefficients, interval, 3), 0.5, 0.02);
}

}  // namespace
}  // namespace strata::solvers
