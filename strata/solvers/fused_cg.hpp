// Conjugate gradients with one reduction per iteration, for vectors whose parts are far from each
// other: what distributed solvers run instead of cg.hpp.
//
//   r = b − Ax, u = M⁻¹r, w = Au, γ = (r, u), α = γ / (u, w), β = 0
//   repeat  p = u + βp,  s = w + βs
//           x = x + αp,  r = r − αs
//           u = M⁻¹r,  w = Au
//           γ⁺ = (r, u),  δ = (u, w),  (r, r)                     (one reduction)
//           β = γ⁺/γ,  α = γ⁺ / (δ − βγ⁺/α)
//
//   A. T. Chronopoulos, C. W. Gear, s-step iterative methods for symmetric linear systems, J.
//   Comput. Appl. Math. 25, 1989 (the case s = 1)
//
// δ − βγ⁺/α is (p, Ap) of the next direction. The same iterates as cg.hpp but for rounding, which s
// carries on: the residual that can be reached is somewhat larger, and cycles begin anew where it
// shows. A cycle has one product and one reduction more than iterations, and an iteration two
// passes over vectors, which read and write twelve of them, against three passes with ten.
#pragma once

#include "strata/solvers/method.hpp"

namespace strata::solvers {

// As conjugate_gradients.
template <class Space>
SolveResult fused_conjugate_gradients(Space& space, const Operator<Space>& a,
                                      const Operator<Space>& preconditioner,
                                      typename Space::ConstView b, typename Space::View x,
                                      const SolveOptions& options = {}) {
  using V = typename Space::Value;
  // The host reads the first two: (r, r), and (p, Ap) of the step that led to it.
  const Scalar square = space.make_scalars(9), curvature = square + 1, next_curvature = square + 2;
  const Scalar rho = square + 3, delta = square + 4, alpha = square + 5, beta = square + 6;
  const Scalar part = square + 7;
  const Scalar next = preconditioner ? square + 8 : square;
  auto r = space.make_vector(), p = space.make_vector(), s = space.make_vector();
  auto w = space.make_vector();
  auto z = preconditioner ? space.make_vector() : typename Space::Vector();
  auto& u = preconditioner ? z : r;

  SolveLoop<Space> loop(space, a, b, x, options);
  loop.reduces_error();
  loop.watch(square, 2,
             [&](std::span<const V> known) { return loop.accepts_curvature(std::real(known[1])); });
  typename Space::Routine iteration;
  const auto multiply = [&] {
    if (preconditioner) preconditioner(r, u);
    a(u, w);
  };
  while (loop.begin_cycle(r)) {
    multiply();
    loop.multiplied();
    space.write(beta, V(0));
    VectorProgram<V> start;
    start.set(p, {});
    start.set(s, {});
    start.dot(r, u, rho);
    start.dot(u, w, next_curvature);
    start.compute(alpha, rho, Operation::divide_positive, next_curvature);
    space.run(start);
    while (loop.continues()) {
      space.run(iteration, [&] {
        VectorProgram<V> step;
        step.set(p, {{u}, {p, beta}});
        step.set(s, {{w}, {s, beta}});
        step.set(x, {{x}, {p, alpha}});
        step.set(r, {{r}, {s, alpha, V(-1)}});
        space.run(step);
        multiply();
        VectorProgram<V> turn;
        turn.dot(r, r, square);
        if (preconditioner) turn.dot(r, u, next);
        turn.dot(u, w, delta);
        turn.compute(curvature, next_curvature, Operation::copy);
        turn.compute(beta, next, Operation::divide, rho);
        turn.compute(part, beta, Operation::multiply, next);
        turn.compute(part, part, Operation::divide, alpha);
        turn.compute(next_curvature, delta, Operation::subtract, part);
        turn.compute(alpha, next, Operation::divide_positive, next_curvature);
        turn.compute(rho, next, Operation::copy);
        space.run(turn);
      });
      loop.multiplied();
      loop.launched();
    }
  }
  return loop.result();
}

}  // namespace strata::solvers
