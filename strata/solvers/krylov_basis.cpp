#include "strata/solvers/krylov_basis.hpp"

#include <algorithm>
#include <cmath>

#include "strata/base/error.hpp"

namespace strata::solvers {

namespace {

using Complex = std::complex<double>;

double largest_modulus(const std::vector<Complex>& points) {
  double largest = 0;
  for (const Complex& point : points) largest = std::max(largest, std::abs(point));
  return largest;
}

// By how much a step of the Newton basis stretches a vector: the geometric mean of the distances
// between a point and those before it, which tends to the capacity of the set.
double stretch_of(const std::vector<Complex>& shifts) {
  double logarithms = 0;
  int distances = 0;
  for (std::size_t k = 1; k < shifts.size(); ++k) {
    for (std::size_t j = 0; j < k; ++j) {
      const double distance = std::abs(shifts[k] - shifts[j]);
      if (distance == 0) continue;
      logarithms += std::log(distance);
      ++distances;
    }
  }
  if (distances > 0) return std::exp(logarithms / distances);
  const double modulus = largest_modulus(shifts);
  return modulus > 0 ? modulus : 1;
}

}  // namespace

std::string_view name_of(KrylovBasis basis) {
  switch (basis) {
    case KrylovBasis::newton: return "newton";
    case KrylovBasis::chebyshev: return "chebyshev";
    case KrylovBasis::monomial: return "monomial";
  }
  return "";
}

std::vector<Complex> leja_ordered(std::vector<Complex> points, int count) {
  if (points.empty()) throw InvalidArgument("no points to put into an order");
  std::vector<Complex> ordered;
  const auto room = static_cast<std::size_t>(std::max(count, 0));
  std::vector<Complex> left = points;
  while (ordered.size() < room) {
    if (left.empty()) left = points;
    const auto farthest = std::max_element(left.begin(), left.end(), [&](Complex a, Complex b) {
      const auto spread = [&](Complex point) {
        // Points that occur twice have no distance; the largest modulus comes first.
        double logarithm = ordered.empty() ? std::log(std::abs(point)) : 0;
        for (const Complex& before : ordered) logarithm += std::log(std::abs(point - before));
        return logarithm;
      };
      const double of_a = spread(a), of_b = spread(b);
      return of_a != of_b ? of_a < of_b
                          : std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
    });
    const Complex chosen = *farthest;
    left.erase(farthest);
    const auto partner =
        chosen.imag() == 0 ? left.end() : std::find(left.begin(), left.end(), std::conj(chosen));
    if (partner == left.end()) {
      ordered.push_back(chosen);
    } else if (ordered.size() + 2 <= room) {
      left.erase(partner);
      ordered.push_back({chosen.real(), std::abs(chosen.imag())});
      ordered.push_back(std::conj(ordered.back()));
    } else {
      ordered.emplace_back(chosen.real());
    }
  }
  return ordered;
}

Basis krylov_basis(KrylovBasis kind, const std::vector<Complex>& ritz_values, int power) {
  if (kind == KrylovBasis::newton) {
    std::vector<Complex> shifts = leja_ordered(ritz_values, power);
    const double stretch = stretch_of(shifts);
    return Basis::newton(std::move(shifts), stretch);
  }
  const double modulus = largest_modulus(ritz_values);
  if (kind == KrylovBasis::chebyshev) {
    const auto by_real_part = [](Complex a, Complex b) { return a.real() < b.real(); };
    const auto [low, high] =
        std::minmax_element(ritz_values.begin(), ritz_values.end(), by_real_part);
    // Ritz values are inside the spectrum; outside the interval Chebyshev polynomials grow fast.
    const double margin = 0.02 * (high->real() - low->real());
    if (margin > 0) return Basis::chebyshev(low->real() - margin, high->real() + margin);
  }
  return modulus > 0 ? Basis::scaled(modulus) : Basis::monomial();
}

template <Value V>
Dense<Wide<V>> change_of_basis(const Basis& basis, int power) {
  using W = Wide<V>;
  Dense<W> b(power + 1, power);
  for (int k = 1; k <= power; ++k) {
    const auto step = basis.step<V>(k);
    const W alpha = W(step.alpha);
    b(k, k - 1) = W(1) / alpha;
    b(k - 1, k - 1) = W(step.shift);
    if (k >= 2) b(k - 2, k - 1) = -W(step.beta) / alpha;
  }
  return b;
}

template Dense<double> change_of_basis<float>(const Basis&, int);
template Dense<double> change_of_basis<double>(const Basis&, int);
template Dense<std::complex<double>> change_of_basis<std::complex<float>>(const Basis&, int);
template Dense<std::complex<double>> change_of_basis<std::complex<double>>(const Basis&, int);

}  // namespace strata::solvers
