// Bounds of the spectrum of a Hermitian matrix, which Chebyshev methods need: from a few steps of
// Lanczos' method, and from Gershgorin's circles.
//
//   A V_k = V_k T_k + f e_kᵀ,   T_k = Z Θ Zᵀ
//   low  = min θ − ‖f‖ max_i |z_ki|,   high = max θ + ‖f‖ max_i |z_ki|
//
//   Y. Zhou, R.-C. Li, Bounding the spectrum of large Hermitian matrices, Linear Algebra Appl. 435,
//   2011 (extreme Ritz values and the remainder f as margin)
//
// Ritz values lie inside the spectrum, and with a start that is random their margin has always been
// wide enough; that of Gershgorin is proved and often far too wide. What is inside both is taken:
//
//   const SpectrumBounds bounds =
//       intersected(estimate_bounds(space, a, random_vector), gershgorin_bounds(matrix));
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "strata/formats/csr.hpp"
#include "strata/solvers/dense.hpp"
#include "strata/solvers/method.hpp"

namespace strata::solvers {

struct SpectrumBounds {
  double low = 0;  // the spectrum is inside of these
  double high = 0;
  double smallest = 0;  // the extreme Ritz values, which are inside the spectrum
  double largest = 0;
  int products = 0;  // that it took

  // At least the norm of the matrix.
  double norm() const { return std::max(std::abs(low), std::abs(high)); }
  // A little more on both sides, so that rounding does not leave it and it has a length.
  SpectrumBounds widened(double share) const {
    SpectrumBounds wider = *this;
    const double margin = std::max(share * (high - low), 1e-6 * norm());
    wider.low -= margin > 0 ? margin : 1e-6;
    wider.high += margin > 0 ? margin : 1e-6;
    return wider;
  }
};

// By at most `steps` products. `start` should be random: directions that it lacks are not seen. It
// must be 0 in padded rows, which would add an eigenvalue 0 otherwise, and is overwritten. Throws
// Error where products are not finite.
template <class Space>
SpectrumBounds estimate_bounds(Space& space, const Operator<Space>& a, typename Space::View start,
                               int steps = 24) {
  using V = typename Space::Value;
  using Real = decltype(std::abs(V()));
  auto old = space.make_vector(), next = space.make_vector();
  typename Space::View previous(old), v = start, w(next);
  // (v, Av), (w, w), and what the host writes.
  const Scalar projection = space.make_scalars(4), square = projection + 1;
  const Scalar inverse = projection + 2, beta_scalar = projection + 3;
  const auto finite = [](V known) {
    const double value = static_cast<double>(std::real(known));
    if (!std::isfinite(value)) throw Error("products with the matrix are not finite");
    return value;
  };
  VectorProgram<V> measure;
  measure.dot(v, v, square);
  space.run(measure);
  SpectrumBounds bounds;
  double beta = std::sqrt(finite(space.read(square)));
  const double first = beta;
  std::vector<double> alphas, betas;
  for (int k = 0; k < steps && beta > 0; ++k) {
    space.write(inverse, V(static_cast<Real>(1 / beta)));
    VectorProgram<V> normalise;
    normalise.set(v, {{v, inverse}});
    space.run(normalise);
    a(v, w);
    ++bounds.products;
    space.write(beta_scalar, V(static_cast<Real>(k == 0 ? 0 : beta)));
    VectorProgram<V> project;
    project.set(w, {{w}, {previous, beta_scalar, V(-1)}});
    project.dot(v, w, projection);
    space.run(project);
    VectorProgram<V> subtract;
    subtract.set(w, {{w}, {v, projection, V(-1)}});
    subtract.dot(w, w, square);
    space.run(subtract);
    V known[2];
    space.read(projection, known);
    alphas.push_back(finite(known[0]));
    beta = std::sqrt(std::max(finite(known[1]), 0.0));
    betas.push_back(beta);
    // The space is invariant: its Ritz values are eigenvalues.
    double scale = 0;
    for (const double alpha : alphas) scale = std::max(scale, std::abs(alpha));
    for (const double each : betas) scale = std::max(scale, each);
    if (beta <= 100 * std::numeric_limits<Real>::epsilon() * scale) break;
    std::swap(previous, v);
    std::swap(v, w);
  }
  if (first == 0 || alphas.empty()) return bounds;
  const int size = static_cast<int>(alphas.size());
  Dense<double> t(size, size);
  for (int k = 0; k < size; ++k) {
    t(k, k) = alphas[static_cast<std::size_t>(k)];
    if (k > 0) t(k, k - 1) = t(k - 1, k) = betas[static_cast<std::size_t>(k) - 1];
  }
  const HermitianEigen<double> ritz = hermitian_eigen(t);
  double last = 0;
  for (int k = 0; k < size; ++k) last = std::max(last, std::abs(ritz.vectors(size - 1, k)));
  bounds.smallest = ritz.values.front();
  bounds.largest = ritz.values.back();
  bounds.low = bounds.smallest - betas.back() * last;
  bounds.high = bounds.largest + betas.back() * last;
  return bounds;
}

// All eigenvalues of a Hermitian matrix are within the sum of the other entries of its row from a
// diagonal element. Rows may be those of a larger matrix from `first_row` on; the bounds of all
// ranges together are then those of the matrix.
template <Value V, Index I>
SpectrumBounds gershgorin_bounds(const Csr<V, I>& matrix, Offset first_row = 0);

// What is inside both; Ritz values and products of the first.
inline SpectrumBounds intersected(SpectrumBounds estimated, const SpectrumBounds& outer) {
  estimated.low = std::max(estimated.low, outer.low);
  estimated.high = std::min(estimated.high, outer.high);
  return estimated;
}

}  // namespace strata::solvers
