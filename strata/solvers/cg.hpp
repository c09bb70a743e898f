// Conjugate gradients with a preconditioner M⁻¹, for Hermitian positive definite matrices.
//
//   r = b − Ax, z = M⁻¹r, p = z, ρ = (r, z)
//   repeat  q = Ap
//           α = ρ / (p, q)
//           r = r − αq,  z = M⁻¹r
//           β = (r, z) / ρ,  ρ = (r, z)
//           x = x + αp,  p = z + βp
//
//   M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems, J. Res.
//   Nat. Bur. Standards 49, 1952
//
// An iteration has one product, one application of M⁻¹ and three passes over vectors, which read
// and write ten of them, four passes with a preconditioner. The host reads scalars once, on a
// device while the next iteration runs.
#pragma once

#include "strata/solvers/method.hpp"

namespace strata::solvers {

// `x` has the first guess and gets the solution. An empty preconditioner is the identity. A
// direction p in which (p, Ap) is not positive ends the method, which then leaves x as it was.
template <class Space>
SolveResult conjugate_gradients(Space& space, const Operator<Space>& a,
                                const Operator<Space>& preconditioner, typename Space::ConstView b,
                                typename Space::View x, const SolveOptions& options = {}) {
  using V = typename Space::Value;
  // The host reads the first two.
  const Scalar square = space.make_scalars(6), curvature = square + 1;  // (r, r), (p, q)
  const Scalar rho = square + 2, next = square + 3, alpha = square + 4, beta = square + 5;
  auto r = space.make_vector(), p = space.make_vector(), q = space.make_vector();
  auto z = preconditioner ? space.make_vector() : typename Space::Vector();
  auto& direction = preconditioner ? z : r;
  const auto turn = [&](VectorProgram<V>& program) {
    program.dot(r, direction, next);
    program.compute(beta, next, Operation::divide, rho);
    program.compute(rho, next, Operation::copy);
  };

  SolveLoop<Space> loop(space, a, b, x, options);
  loop.reduces_error();
  loop.watch(square, 2,
             [&](std::span<const V> known) { return loop.accepts_curvature(std::real(known[1])); });
  typename Space::Routine iteration;
  while (loop.begin_cycle(r)) {
    if (preconditioner) preconditioner(r, z);
    VectorProgram<V> start;
    start.set(p, {{direction}});
    start.dot(r, direction, rho);
    space.run(start);
    while (loop.continues()) {
      space.run(iteration, [&] {
        a(p, q);
        VectorProgram<V> length;
        length.dot(p, q, curvature);
        length.compute(alpha, rho, Operation::divide_positive, curvature);
        space.run(length);
        VectorProgram<V> shorten;
        shorten.set(r, {{r}, {q, alpha, V(-1)}});
        shorten.dot(r, r, square);
        if (!preconditioner) turn(shorten);
        space.run(shorten);
        if (preconditioner) {
          preconditioner(r, z);
          VectorProgram<V> weigh;
          turn(weigh);
          space.run(weigh);
        }
        VectorProgram<V> step;
        step.set(x, {{x}, {p, alpha}});
        step.set(p, {{direction}, {p, beta}});
        space.run(step);
      });
      loop.multiplied();
      loop.launched();
    }
  }
  return loop.result();
}

}  // namespace strata::solvers
