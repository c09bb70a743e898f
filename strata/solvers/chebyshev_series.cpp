#include "strata/solvers/chebyshev_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "strata/base/error.hpp"

namespace strata::solvers {

namespace {

// y_{k−1} = 2k/x · y_k + sign · y_{k+1} from k = `last` down, scaled so that their sum with weights
// is 1: y_0 + Σ weight(k) y_k.
template <class Weight>
std::vector<double> downward(double x, int count, int last, double sign, const Weight& weight) {
  constexpr double kLarge = 1e200;
  std::vector<double> values(static_cast<std::size_t>(count));
  double above = 0, here = 1e-200, sum = 0;
  for (int k = last; k >= 0; --k) {
    if (std::abs(here) > kLarge) {
      above /= kLarge;
      here /= kLarge;
      sum /= kLarge;
      for (int known = k + 1; known < count; ++known) {
        values[static_cast<std::size_t>(known)] /= kLarge;
      }
    }
    if (k < count) values[static_cast<std::size_t>(k)] = here;
    sum += (k == 0 ? 1.0 : weight(k)) * here;
    const double below = 2.0 * k / x * here + sign * above;
    above = here;
    here = below;
  }
  for (double& value : values) value /= sum;
  return values;
}

// The first terms of both series, times a factor; exact to rounding below 1e-8.
std::vector<double> leading_terms(double x, int count, double term) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] = term;
    term *= x / 2 / static_cast<double>(k + 1);
  }
  return values;
}

void alternate(std::vector<double>& values) {
  for (std::size_t k = 1; k < values.size(); k += 2) values[k] = -values[k];
}

// From here on values are far below rounding, whatever x: decay begins where k exceeds x.
int vanishing_index(double x) {
  return static_cast<int>(std::ceil(std::abs(x) + 14 * std::cbrt(std::abs(x)) + 60));
}

template <class Bessel>
std::vector<double> bessel(double x, int count, double of_zero, const Bessel& positive) {
  if (count <= 0) return {};
  std::vector<double> values =
      std::abs(x) < 1e-8 ? leading_terms(std::abs(x), count, of_zero) : positive(std::abs(x));
  if (x < 0) alternate(values);
  return values;
}

double tail_from(const std::vector<double>& values, int first) {
  double sum = 0;
  for (std::size_t k = values.size(); k-- > static_cast<std::size_t>(first);) {
    sum += 2 * std::abs(values[k]);
  }
  return sum;
}

std::vector<double> exponential_terms(double time_radius, bool imaginary) {
  const int count = vanishing_index(time_radius);
  return imaginary ? bessel_j(time_radius, count) : scaled_bessel_i(time_radius, count);
}

}  // namespace

std::vector<double> scaled_bessel_i(double x, int count) {
  return bessel(x, count, std::exp(-std::abs(x)), [&](double positive) {
    const int last = std::max(count, vanishing_index(positive)) + 20;
    return downward(positive, count, last, 1, [](int) { return 2.0; });
  });
}

std::vector<double> bessel_j(double x, int count) {
  return bessel(x, count, 1, [&](double positive) {
    const int last = std::max(count, vanishing_index(positive)) + 20;
    return downward(positive, count, last, -1, [](int k) { return k % 2 == 0 ? 2.0 : 0.0; });
  });
}

int exponential_degree(double time_radius, bool imaginary, double tolerance, int most) {
  if (!(std::abs(time_radius) <= 1e7)) return most + 1;
  const std::vector<double> terms = exponential_terms(time_radius, imaginary);
  double left_out = 0;
  int degree = static_cast<int>(terms.size()) - 1;
  while (degree > 1 &&
         left_out + 2 * std::abs(terms[static_cast<std::size_t>(degree)]) <= tolerance) {
    left_out += 2 * std::abs(terms[static_cast<std::size_t>(degree--)]);
  }
  return std::min(degree, most + 1);
}

ExponentialSeries exponential_series(double time, const ChebyshevInterval& interval, int degree) {
  const double argument = time * interval.radius();
  std::vector<double> terms =
      scaled_bessel_i(argument, std::max(vanishing_index(argument), degree + 1));
  ExponentialSeries series;
  series.remainder = tail_from(terms, degree + 1);
  terms.resize(static_cast<std::size_t>(degree) + 1);
  for (std::size_t k = 1; k < terms.size(); ++k) terms[k] *= 2;
  series.coefficients = std::move(terms);
  series.exponent = time * interval.centre() + std::abs(argument);
  return series;
}

PhaseSeries phase_series(double time, const ChebyshevInterval& interval, int degree) {
  const double argument = time * interval.radius();
  const std::vector<double> terms =
      bessel_j(argument, std::max(vanishing_index(argument), degree + 1));
  PhaseSeries series;
  series.remainder = tail_from(terms, degree + 1);
  std::complex<double> factor = std::polar(1.0, -time * interval.centre());
  for (int k = 0; k <= degree; ++k) {
    series.coefficients.push_back(factor * terms[static_cast<std::size_t>(k)] *
                                  (k == 0 ? 1.0 : 2.0));
    factor *= std::complex<double>(0, -1);
  }
  return series;
}

double phi(int k, double z) {
  if (k == 0) return std::exp(z);
  int doublings = 0;
  for (; std::abs(z) > 0.5; z /= 2) ++doublings;
  // φ_j(z) = Σ zⁱ / (i + j)!, of a small z.
  std::vector<double> values(static_cast<std::size_t>(k) + 1);
  double inverse_factorial = 1;
  for (int j = 0; j <= k; ++j) {
    if (j > 0) inverse_factorial /= j;
    double term = inverse_factorial, sum = 0;
    for (int i = 0; i < 25; ++i) {
      sum += term;
      term *= z / (i + j + 1);
    }
    values[static_cast<std::size_t>(j)] = sum;
  }
  // φ_j(2z) = (φ_0(z) φ_j(z) + Σ_{i=1}^{j} φ_i(z) / (j − i)!) / 2ʲ: nothing cancels.
  for (; doublings > 0; --doublings) {
    std::vector<double> doubled(values.size());
    for (int j = 0; j <= k; ++j) {
      double sum = values[0] * values[static_cast<std::size_t>(j)], factorial = 1;
      for (int i = j; i >= 1; --i) {
        if (j > i) factorial *= j - i;
        sum += values[static_cast<std::size_t>(i)] / factorial;
      }
      doubled[static_cast<std::size_t>(j)] = std::ldexp(sum, -j);
    }
    values = std::move(doubled);
  }
  return values.back();
}

ExponentialSeries phi_series(int k, double time, const ChebyshevInterval& interval, int degree) {
  const int points = 2 * (degree + 1);
  std::vector<double> samples;
  for (int i = 0; i < points; ++i) {
    const double x = std::cos(std::numbers::pi * (i + 0.5) / points);
    samples.push_back(phi(k, time * (interval.centre() + interval.radius() * x)));
    if (!std::isfinite(samples.back())) {
      throw InvalidArgument(fmt::format("φ_{} overflows at {:.3g}", k, time * interval.high));
    }
  }
  const auto coefficient = [&](int j) {
    double sum = 0;
    for (int i = 0; i < points; ++i) {
      // The angle modulo 2π, exactly.
      const long turn = static_cast<long>(j) * (2 * i + 1) % (4L * points);
      sum += samples[static_cast<std::size_t>(i)] *
             std::cos(std::numbers::pi * static_cast<double>(turn) / (2.0 * points));
    }
    return (j == 0 ? 1.0 : 2.0) / points * sum;
  };
  ExponentialSeries series;
  for (int j = 0; j <= degree; ++j) series.coefficients.push_back(coefficient(j));
  for (int j = degree + 1; j < points; ++j) series.remainder += std::abs(coefficient(j));
  return series;
}

std::vector<double> window_series(const ChebyshevInterval& window,
                                  const ChebyshevInterval& interval, int degree) {
  const auto angle = [&](double x) {
    return std::acos(std::clamp((x - interval.centre()) / interval.radius(), -1.0, 1.0));
  };
  const double from = angle(window.high), to = angle(window.low);
  std::vector<double> coefficients{(to - from) / std::numbers::pi};
  for (int k = 1; k <= degree; ++k) {
    coefficients.push_back(2 * (std::sin(k * to) - std::sin(k * from)) / (k * std::numbers::pi));
  }
  return coefficients;
}

std::vector<double> jackson_damping(int count) {
  const double step = std::numbers::pi / (count + 1);
  std::vector<double> factors;
  for (int k = 0; k < count; ++k) {
    factors.push_back(((count - k + 1) * std::cos(k * step) + std::sin(k * step) / std::tan(step)) /
                      (count + 1));
  }
  return factors;
}

}  // namespace strata::solvers
