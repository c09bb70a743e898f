// What methods and preconditioners that are polynomials of the matrix know of its spectrum: found
// out by a few products, in any space.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/plans/internal/checks.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/inverse_polynomial.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/spectrum_bounds.hpp"

namespace strata::solvers::detail {

inline bool is_polynomial(Preconditioner preconditioner) {
  return preconditioner == Preconditioner::chebyshev || preconditioner == Preconditioner::neumann ||
         preconditioner == Preconditioner::gmres;
}

// Whether the method runs without a preconditioner, on powers alone.
inline bool runs_on_powers(Method method) {
  return method == Method::ca_cg || method == Method::ca_gmres || method == Method::chebyshev;
}

inline bool asks_for_spectrum(const LinearSolverOptions& options) {
  return options.method == Method::chebyshev || is_polynomial(options.preconditioner);
}

// How many powers at a time the method and its preconditioner need; 0: single products.
inline int powers_of(const LinearSolverOptions& options) {
  if (options.method == Method::ca_cg || options.method == Method::ca_gmres) return options.powers;
  return asks_for_spectrum(options) ? options.degree : 0;
}

// The same wishes for a plan for powers of one vector, in the order of the plan.
inline PowerOptions for_powers(const ProductOptions& product, int power) {
  PowerOptions options = strata::detail::as_power_options(product);
  options.power = power;
  options.vectors = 1;
  options.vector_order = VectorOrder::plan;
  return options;
}

template <Value V>
struct Spectral {
  InversePolynomial<V> polynomial = {};
  double low = 0;  // of the interval that chebyshev takes for the spectrum
  double high = 0;
  std::string text = {};  // what was found, in a sentence
};

// The harmonic Ritz values of the Krylov space of `count` vectors from a start: the eigenvalues of
// H + h² H⁻ᴴ e eᵀ. A space that is exhausted has fewer, which are repeated.
template <class Space>
std::vector<std::complex<double>> harmonic_ritz_values(Space& space, const Operator<Space>& a,
                                                       typename Space::ConstView start, int count) {
  using V = typename Space::Value;
  using W = Wide<V>;
  const int most =
      static_cast<int>(std::min<Offset>(count, std::max<Offset>(space.dimension(), 1)));
  BlockArnoldi<Space> arnoldi(space, most, 1);
  const Scalar square = space.make_scalars(2), inverse = square + 1;
  VectorProgram<V> measure;
  measure.dot(start, start, square);
  space.run(measure);
  space.write(inverse,
              narrowed<V>(1 / std::sqrt(static_cast<double>(std::real(space.read(square))))));
  VectorProgram<V> normalise;
  auto first = arnoldi.column(0);
  normalise.set(first, {{start, inverse}});
  space.run(normalise);
  Dense<W> plain(2, 1);
  plain(1, 0) = W(1);
  for (bool exhausted = false; arnoldi.size() < most && !exhausted;) {
    const int k = arnoldi.size();
    a(arnoldi.column(k), arnoldi.column(k + 1));
    exhausted = arnoldi.append(plain) == 0;
  }
  const int size = arnoldi.size();
  Dense<W> h = arnoldi.h().part(0, 0, size, size);
  Dense<W> last(size, 1);
  last(size - 1, 0) = W(1);
  const double below = std::norm(arnoldi.h()(size, size - 1));
  const Dense<W> correction = solve(adjoint(h), last);
  for (int i = 0; i < size; ++i) h(i, size - 1) += below * correction(i, 0);
  const auto values = eigenvalues(h);
  for (const auto& value : values) {
    if (!std::isfinite(std::abs(value)) || value == 0.0) {
      throw Error("the matrix is singular: no polynomial of it is near its inverse");
    }
  }
  return leja_ordered(values, count);
}

// `start` is random, 0 in padded rows, and overwritten; `outer` are proved bounds. Throws Error
// where the spectrum is none that the polynomial can have.
template <class Space>
Spectral<typename Space::Value> find_spectrum(const LinearSolverOptions& options, Space& space,
                                              const Operator<Space>& a, typename Space::View start,
                                              const SpectrumBounds& outer) {
  using V = typename Space::Value;
  constexpr int kSteps = 30;
  Spectral<V> found;
  if (options.preconditioner == Preconditioner::gmres) {
    found.polynomial =
        gmres_inverse<V>(harmonic_ritz_values<Space>(space, a, start, options.degree + 1));
    found.text = fmt::format("The preconditioner is the {}.\n", found.polynomial.name);
    return found;
  }
  const SpectrumBounds bounds = intersected(estimate_bounds<Space>(space, a, start, kSteps), outer);
  if (!(bounds.smallest > 0)) {
    throw Error(
        fmt::format("the matrix is not positive definite, as {} needs: it has an eigenvalue of at "
                    "most {:.3g}",
                    options.method == Method::chebyshev
                        ? std::string("the method chebyshev")
                        : fmt::format("the preconditioner {}", name_of(options.preconditioner)),
                    bounds.smallest));
  }
  found.high = bounds.high;
  // A few steps do not find the smallest eigenvalues. What is below the interval is damped less,
  // and nothing is amplified.
  found.low = std::min(bounds.smallest, bounds.high / 2);
  if (options.preconditioner == Preconditioner::neumann) {
    found.polynomial = neumann_inverse<V>(1 / found.high, options.degree);
  } else {
    if (options.preconditioner == Preconditioner::chebyshev) {
      // Small eigenvalues are left to the method around it.
      const double degree = options.degree;
      found.low = std::max(found.low, found.high / (4 * degree * degree));
    }
    found.polynomial = chebyshev_inverse<V>(found.low, found.high, options.degree);
  }
  found.text = fmt::format(
      "Eigenvalues are taken to be in [{:.3g}, {:.3g}], by {} steps of Lanczos' method and "
      "Gershgorin's circles; the polynomial is {}.\n",
      found.low, found.high, bounds.products, found.polynomial.name);
  return found;
}

}  // namespace strata::solvers::detail
