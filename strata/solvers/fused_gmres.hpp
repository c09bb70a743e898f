// GMRES(m) with one reduction per iteration, for vectors whose parts are far from each other: what
// distributed solvers run instead of gmres.hpp.
//
// Orthogonalising twice takes inner products twice, and those of the second time are put off: they
// are taken together with the first ones of the next vector, which has been multiplied meanwhile.
// With Q orthonormal, u once orthogonal to it and w = A M⁻¹ u:
//
//   [s γ]   [Qᴴu  uᴴu]
//   [z η] = [Qᴴw  uᴴw]                                            (one reduction)
//   ρ = √(γ − sᴴs),  q = (u − Qs)/ρ                                (what was put off)
//   h = h + s, and ρ below it, is the column of H that u came from
//   ζ = (η − sᴴz)/ρ = qᴴw
//   u = (w − Qz − qζ)/ρ,  whose column of H is ([z; ζ] − Hs)/ρ so far
//
//   D. Bielich, J. Langou, S. Thomas, K. Świrydowicz, I. Yamazaki, E. G. Boman, Low-synch
//   Gram–Schmidt with delayed reorthogonalization for Krylov solvers, Parallel Comput. 112, 2022
//
// Iterates and orthogonality are those of gmres.hpp but for rounding. The residual of an iteration
// is known with the next product: a cycle of k iterations has k + 1 reductions and k + 1 products,
// k if it is a full one. Step j reads and writes 2j + 5 vectors in two passes, against 4j + 11.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "strata/solvers/dense.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/hessenberg.hpp"
#include "strata/solvers/method.hpp"

namespace strata::solvers {

// As gmres.
template <class Space>
SolveResult fused_gmres(Space& space, const Operator<Space>& a,
                        const Operator<Space>& preconditioner, typename Space::ConstView b,
                        typename Space::View x, const GmresOptions& options = {}) {
  using V = typename Space::Value;
  using W = Wide<V>;
  using View = typename Space::View;
  constexpr double kEpsilon = std::numeric_limits<decltype(std::abs(V()))>::epsilon();
  if (options.restart < 1) throw InvalidArgument("GMRES restarts after at least one iteration");
  const int most =
      static_cast<int>(std::min<Offset>(options.restart, std::max<Offset>(space.dimension(), 1)));
  const Scalar first = space.make_scalars(2 * (most + 2));
  const auto rows = static_cast<std::size_t>(space.rows());
  auto basis = space.make_block(most + 2);  // Q, u and w
  auto r = space.make_vector();
  auto z_vector = preconditioner ? space.make_vector() : typename Space::Vector();
  const auto column = [&](int k, int count = 1) {
    return View(basis).subspan(static_cast<std::size_t>(k) * rows,
                               static_cast<std::size_t>(count) * rows);
  };

  SolveLoop<Space> loop(space, a, b, x, options.solve);
  while (loop.begin_cycle(r, 0.9999)) {
    const double norm = loop.norm_of_residual();
    space.write(first, narrowed<V>(1 / norm));
    VectorProgram<V> start;
    auto v0 = column(0);
    start.set(v0, {{r, first}});
    space.run(start);
    RotatedHessenberg<W> hessenberg{W(norm)};
    Dense<W> h(most + 1, most);
    const int length = std::min(most, options.solve.most_iterations - loop.iterations());
    for (int j = 0;; ++j) {  // u is column j, and Q what is before it
      const bool last = j == length;
      if (!last) {
        if (preconditioner) preconditioner(column(j), z_vector);
        preconditioner ? loop.multiply(z_vector, column(j + 1))
                       : loop.multiply(column(j), column(j + 1));
      }
      const int right = last ? 1 : 2;
      space.gram({column(0, j + 1), j + 1}, {column(j, right), right}, first);
      std::vector<V> known(static_cast<std::size_t>((j + 1) * right));
      space.read(first, known);
      const Dense<W> products(j + 1, right, known);
      const Dense<W> s = products.part(0, 0, j, 1);
      const double gamma = std::real(products(j, 0));
      double left = gamma;
      for (int i = 0; i < j; ++i) left -= std::norm(s(i, 0));
      const double rho = std::sqrt(left > 0 || std::isnan(left) ? left : 0);
      if (j > 0) {
        double square = gamma;  // of the product before it lost what is in Q
        std::vector<W> finished;
        for (int i = 0; i < j; ++i) {
          square += std::norm(h(i, j - 1));
          h(i, j - 1) += s(i, 0);
          finished.push_back(h(i, j - 1));
        }
        // What is left of a vector inside the space is rounding: the solution is in the space.
        const bool exhausted = rho <= 10 * kEpsilon * std::sqrt(square);
        h(j, j - 1) = exhausted ? W(0) : W(rho);
        finished.push_back(h(j, j - 1));
        const double residual = hessenberg.append(std::move(finished));
        loop.iterated(narrowed<V>(residual * residual));
        if (exhausted || last || !loop.continues()) break;
      }
      const Dense<W> z = products.part(0, 1, j, 1);
      W zeta = products(j, 1);
      for (int i = 0; i < j; ++i) zeta -= conjugate(s(i, 0)) * z(i, 0);
      zeta /= rho;
      for (int i = 0; i <= j; ++i) {
        W sum = i < j ? z(i, 0) : zeta;
        for (int k = std::max(i - 1, 0); k < j; ++k) sum -= h(i, k) * s(k, 0);
        h(i, j) = sum / rho;
      }
      Dense<W> by(j + 2, 2);
      for (int i = 0; i < j; ++i) {
        by(i, 0) = -s(i, 0) / rho;
        by(i, 1) = (zeta * s(i, 0) / rho - z(i, 0)) / rho;
      }
      by(j, 0) = W(1 / rho);
      by(j, 1) = -zeta / (rho * rho);
      by(j + 1, 1) = W(1 / rho);
      const std::vector<V> coefficients = narrowed<V>(by.values());
      space.write(first, std::span<const V>(coefficients));
      space.transform({column(0, j + 2), j + 2}, first, j);
    }
    const std::vector<V> y = narrowed<V>(hessenberg.solution());
    space.write(first, std::span<const V>(y));
    const typename Space::ConstBlock used(basis, static_cast<int>(y.size()));
    detail::add_correction(space, preconditioner, used, first, r, z_vector, x);
  }
  return loop.result();
}

}  // namespace strata::solvers
