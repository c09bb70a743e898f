// GMRES(m), restarted after m iterations, with a preconditioner on the right: for any square
// matrix.
//
//   v_0 = r / ‖r‖
//   for j = 0 … m − 1   w = A M⁻¹ v_j
//                       h = Vᴴw, w = w − Vh, twice              (classical Gram–Schmidt)
//                       v_{j+1} = w / ‖w‖, H's column j is [h, ‖w‖]
//   y minimises ‖‖r‖ e_0 − Hy‖,  x = x + M⁻¹Vy
//
//   Y. Saad, M. H. Schultz, GMRES: a generalized minimal residual algorithm for solving
//   nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 7, 1986
//   L. Giraud, J. Langou, M. Rozložník, J. van den Eshof, Rounding error analysis of the classical
//   Gram–Schmidt orthogonalization process, Numer. Math. 101, 2005 (why twice is enough)
//
// The norm of the residual is known in every iteration without x, from rotations of H on the host,
// which reads one column of it per iteration.
#pragma once

#include <algorithm>
#include <vector>

#include "strata/solvers/hessenberg.hpp"
#include "strata/solvers/method.hpp"

namespace strata::solvers {

struct GmresOptions {
  SolveOptions solve = {};
  int restart = 30;  // m
};

namespace detail {

// x = x + M⁻¹Vy, where y are the scalars from `y` on; `sum` and `z` are overwritten.
template <class Space>
void add_correction(Space& space, const Operator<Space>& preconditioner,
                    typename Space::ConstBlock basis, Scalar y, typename Space::View sum,
                    typename Space::View z, typename Space::View x) {
  using V = typename Space::Value;
  if (!preconditioner) {
    space.add_product(V(1), basis, y, {x, 1});
    return;
  }
  VectorProgram<V> clear;
  clear.set(sum, {});
  space.run(clear);
  space.add_product(V(1), basis, y, {sum, 1});
  preconditioner(sum, z);
  VectorProgram<V> add;
  add.set(x, {{x}, {z}});
  space.run(add);
}

}  // namespace detail

// `x` has the first guess and gets the solution. An empty preconditioner is the identity.
template <class Space>
SolveResult gmres(Space& space, const Operator<Space>& a, const Operator<Space>& preconditioner,
                  typename Space::ConstView b, typename Space::View x,
                  const GmresOptions& options = {}) {
  using V = typename Space::Value;
  using Real = decltype(std::abs(V()));
  if (options.restart < 1) throw InvalidArgument("GMRES restarts after at least one iteration");
  const int most =
      static_cast<int>(std::min<Offset>(options.restart, std::max<Offset>(space.dimension(), 1)));
  const auto columns = static_cast<std::size_t>(most);
  // Two columns of Gram–Schmidt and (w, w), before and after, in this order: read at once.
  const Scalar first = space.make_scalars(2 * most + 3);
  const auto rows = static_cast<std::size_t>(space.rows());
  auto basis = space.make_block(most + 1);
  auto r = space.make_vector();
  auto z = preconditioner ? space.make_vector() : typename Space::Vector();
  const auto column = [&](std::size_t k) {
    return typename Space::View(basis).subspan(k * rows, rows);
  };

  SolveLoop<Space> loop(space, a, b, x, options.solve);
  // The same residual gives the same space again: whoever gains nothing in a cycle never will.
  while (loop.begin_cycle(r, 0.9999)) {
    const Scalar scale = first + (2 * most + 2);
    const Real norm = static_cast<Real>(loop.norm_of_residual());
    space.write(scale, V(1 / norm));
    VectorProgram<V> start;
    auto v0 = column(0);
    start.set(v0, {{r, scale}});
    space.run(start);
    RotatedHessenberg<V> hessenberg{V(norm)};
    std::size_t j = 0;
    for (bool exhausted = false; j < columns && loop.continues() && !exhausted; ++j) {
      auto w = column(j + 1);
      if (preconditioner) {
        preconditioner(column(j), z);
        loop.multiply(z, w);
      } else {
        loop.multiply(column(j), w);
      }
      const int width = static_cast<int>(j) + 1;
      const Scalar again = first + width, before = first + 2 * width, after = before + 1;
      VectorProgram<V> measure;
      measure.dot(w, w, before);
      space.run(measure);
      const typename Space::ConstBlock before_w(basis, width);
      for (const Scalar h : {first, again}) {
        space.gram(before_w, {w, 1}, h);
        space.add_product(V(-1), before_w, h, {w, 1});
      }
      VectorProgram<V> normalise;
      normalise.dot(w, w, after);
      space.run(normalise);
      std::vector<V> known(2 * j + 4);
      space.read(first, known);
      std::vector<V> h(j + 2);
      for (std::size_t k = 0; k <= j; ++k) h[k] = known[k] + known[j + 1 + k];
      const Real length = std::sqrt(std::max(std::real(known[2 * j + 3]), Real(0)));
      // What is left of a vector inside the space is rounding: the solution is in the space.
      exhausted = length <= 10 * std::numeric_limits<Real>::epsilon() *
                                std::sqrt(std::max(std::real(known[2 * j + 2]), Real(0)));
      h[j + 1] = exhausted ? V(0) : V(length);
      const double residual = hessenberg.append(std::move(h));
      if (!exhausted) {
        space.write(scale, V(1 / length));
        VectorProgram<V> shorten;
        shorten.set(w, {{w, scale}});
        space.run(shorten);
      }
      loop.iterated(V(static_cast<Real>(residual * residual)));
    }
    const std::vector<V> y = hessenberg.solution();
    space.write(first, std::span<const V>(y));
    const typename Space::ConstBlock used(basis, static_cast<int>(y.size()));
    detail::add_correction(space, preconditioner, used, first, r, z, x);
  }
  return loop.result();
}

}  // namespace strata::solvers
