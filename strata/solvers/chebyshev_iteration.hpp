// Chebyshev iteration, for Hermitian matrices whose spectrum is in a known interval of positive
// numbers: d products at a time without a single reduction.
//
//   r = b − Ax,  x = x + p(A) r,  where 1 − t p(t) is the Chebyshev polynomial of degree d that is
//   1 at 0 and smallest on the interval                              (inverse_polynomial.hpp)
//
//   G. H. Golub, R. S. Varga, Chebyshev semi-iterative methods, Numer. Math. 3, 1961
//
// p(A)r is a sum that one sweep adds up. The residual is always the true one. An interval that
// lacks large eigenvalues makes the residual grow, one that lacks small ones convergence slow.
#pragma once

#include <utility>

#include "strata/solvers/inverse_polynomial.hpp"
#include "strata/solvers/method.hpp"
#include "strata/solvers/powers.hpp"

namespace strata::solvers {

struct ChebyshevOptions {
  SolveOptions solve = {};
  double low = 0;  // of the interval
  double high = 0;
};

// `x` has the first guess and gets the solution. The plan is for d − 1 powers.
template <class Space>
SolveResult chebyshev_iteration(Space& space, Powers<Space>& powers, typename Space::ConstView b,
                                typename Space::View x, const ChebyshevOptions& options) {
  using V = typename Space::Value;
  const int degree = powers.power();
  const Operator<Space> inverse =
      as_operator<Space>(chebyshev_inverse<V>(options.low, options.high, degree), powers);
  const Operator<Space> a = [&](typename Space::ConstView from, typename Space::View to) {
    powers.multiply(from, to);
  };
  auto r = space.make_vector(), step = space.make_vector();
  SolveLoop<Space> loop(space, a, b, x, options.solve);
  bool begun = false;
  // The residual that a cycle leaves is known when the next one begins.
  const auto end_cycle = [&] {
    if (!std::exchange(begun, false)) return;
    const double norm = loop.norm_of_residual();
    loop.iterated(narrowed<V>(norm * norm), degree + 1);
  };
  while (loop.begin_cycle(r, 0.9999)) {
    end_cycle();
    if (!loop.continues()) continue;
    inverse(r, step);
    loop.multiplied(degree);
    VectorProgram<V> walk;
    walk.set(x, {{x}, {step}});
    space.run(walk);
    begun = true;
  }
  end_cycle();
  return loop.result();
}

}  // namespace strata::solvers
