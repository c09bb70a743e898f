#include "strata/solvers/inverse_polynomial.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "strata/base/error.hpp"
#include "strata/solvers/dense.hpp"
#include "strata/solvers/krylov_basis.hpp"

namespace strata::solvers {

namespace {

void require_degree(int degree) {
  if (degree < 1) throw InvalidArgument(fmt::format("a polynomial of degree {}", degree));
}

}  // namespace

template <Value V>
InversePolynomial<V> chebyshev_inverse(double low, double high, int degree) {
  require_degree(degree);
  if (!(low > 0 && high > low && std::isfinite(high))) {
    throw InvalidArgument(fmt::format(
        "[{}, {}] is no interval of positive numbers for a polynomial near 1/t", low, high));
  }
  const int nodes = degree + 1;
  const double centre = (low + high) / 2, radius = (high - low) / 2;
  std::vector<V> coefficients;
  for (int k = 0; k < nodes; ++k) {
    double sum = 0;
    for (int j = 0; j < nodes; ++j) {
      const double angle = std::numbers::pi * (j + 0.5) / nodes;
      sum += std::cos(k * angle) / (centre + radius * std::cos(angle));
    }
    coefficients.push_back(narrowed<V>((k == 0 ? 1.0 : 2.0) / nodes * sum));
  }
  return {Basis::chebyshev(low, high), std::move(coefficients),
          fmt::format("chebyshev of degree {} on [{:.3g}, {:.3g}]", degree, low, high)};
}

template <Value V>
InversePolynomial<V> neumann_inverse(double omega, int degree) {
  require_degree(degree);
  if (!(omega != 0 && std::isfinite(omega))) {
    throw InvalidArgument(fmt::format("Neumann's series with a factor of {}", omega));
  }
  // y_k = (A − 1/ω) y_{k−1} / (−1/ω) = (I − ωA) y_{k−1}
  const std::vector<std::complex<double>> shifts(static_cast<std::size_t>(degree), 1 / omega);
  return {Basis::newton(shifts, -1 / omega),
          std::vector<V>(static_cast<std::size_t>(degree) + 1, narrowed<V>(omega)),
          fmt::format("neumann of degree {} with 1/{:.3g}", degree, 1 / omega)};
}

template <Value V>
InversePolynomial<V> gmres_inverse(std::vector<std::complex<double>> harmonic_ritz_values) {
  const int count = static_cast<int>(harmonic_ritz_values.size());
  require_degree(count - 1);
  const auto zeros = leja_ordered(std::move(harmonic_ritz_values), count);
  double logarithms = 0;
  for (const auto& zero : zeros) {
    if (zero == 0.0) throw InvalidArgument("a polynomial near 1/t cannot be 1 at 0 and 0 there");
    logarithms += std::log(std::abs(zero));
  }
  const double sigma = std::exp(logarithms / count);
  // Of Π (I − A/θ_i)y = Σ terms; `product` is that of the factors −σ/θ so far.
  std::vector<Wide<V>> sum(zeros.size(), Wide<V>(0));
  Wide<V> product(1);
  for (std::size_t k = 0; k < zeros.size(); ++k) {
    const std::complex<double> zero = zeros[k];
    if constexpr (is_complex<V>) {
      sum[k] += product / zero;
      product *= -sigma / zero;
    } else if (zero.imag() == 0) {
      sum[k] += product / zero.real();
      product *= -sigma / zero.real();
    } else {
      // (1/θ + (I − A/θ)/θ̄) y = (Re θ y − σ y') / |θ|², where y' is the first vector of the pair.
      const double square = std::norm(zero);
      sum[k] += product * zero.real() / square;
      sum[k + 1] -= product * sigma / square;
      product *= sigma * sigma / square;
      ++k;
    }
  }
  return {Basis::newton(zeros, sigma), narrowed<V>(sum),
          fmt::format("gmres polynomial of degree {}", count - 1)};
}

#define STRATA_INSTANTIATE(V)                                              \
  template InversePolynomial<V> chebyshev_inverse<V>(double, double, int); \
  template InversePolynomial<V> neumann_inverse<V>(double, int);           \
  template InversePolynomial<V> gmres_inverse<V>(std::vector<std::complex<double>>)
STRATA_INSTANTIATE(float);
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<float>);
STRATA_INSTANTIATE(std::complex<double>);

}  // namespace strata::solvers
