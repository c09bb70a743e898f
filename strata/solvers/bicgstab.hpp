// BiCGStab with a preconditioner on the right: for any square matrix, with short recurrences.
//
//   r = b − Ax, r̂ = r, p = r, ρ = (r̂, r)
//   repeat  v = A M⁻¹p,  α = ρ / (r̂, v),  s = r − αv
//           t = A M⁻¹s,  ω = (t, s) / (t, t)
//           x = x + M⁻¹(αp + ωs),  r = s − ωt
//           β = (r̂, r)/ρ · α/ω,  ρ = (r̂, r),  p = r + β(p − ωv)
//
//   H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the
//   solution of nonsymmetric linear systems, SIAM J. Sci. Stat. Comput. 13, 1992
//
// An iteration has two products and five passes over vectors; the host reads scalars once, on a
// device while the next iteration runs. Where a divisor vanishes the method begins anew with the
// residual that it has.
//
// Fused, the third of its reductions is part of the second one, by r = s − ωt:
//
//   (r̂, r) = (r̂, s) − ω(r̂, t),  (r, r) = (s, s) − ω(s, t)
//
// two for two products; what rounding leaves of (r, r) says less where a step takes nearly all of
// s.
#pragma once

#include "strata/solvers/method.hpp"

namespace strata::solvers {

namespace detail {

template <class Space>
SolveResult bicgstab(Space& space, const Operator<Space>& a, const Operator<Space>& preconditioner,
                     typename Space::ConstView b, typename Space::View x,
                     const SolveOptions& options, bool fused) {
  using V = typename Space::Value;
  // The host reads the first three: (r, r), α and ω, of which the last two are 0 where they would
  // be quotients by 0.
  const Scalar square = space.make_scalars(15), alpha = square + 1, omega = square + 2;
  const Scalar rho = square + 3, next = square + 4, shadow_v = square + 5, ts = square + 6;
  const Scalar tt = square + 7, beta = square + 8, beta_omega = square + 9;
  const Scalar shadow_s = square + 10, shadow_t = square + 11, ss = square + 12, st = square + 13;
  const Scalar part = square + 14;
  auto r = space.make_vector(), shadow = space.make_vector(), p = space.make_vector();
  auto v = space.make_vector(), s = space.make_vector(), t = space.make_vector();
  auto p_hat = preconditioner ? space.make_vector() : typename Space::Vector();
  auto s_hat = preconditioner ? space.make_vector() : typename Space::Vector();
  auto& p_step = preconditioner ? p_hat : p;
  auto& s_step = preconditioner ? s_hat : s;

  SolveLoop<Space> loop(space, a, b, x, options);
  bool stuck = false;
  loop.watch(square, 3, [&](std::span<const V> known) {
    stuck = stuck || known[1] == V(0) || known[2] == V(0);
    return true;
  });
  typename Space::Routine iteration;
  // A cycle that ends early and gains nothing would be repeated for ever.
  while (loop.begin_cycle(r, 0.9)) {
    stuck = false;
    VectorProgram<V> start;
    start.set(shadow, {{r}});
    start.set(p, {{r}});
    start.dot(r, r, rho);
    space.run(start);
    while (!stuck && loop.continues()) {
      space.run(iteration, [&] {
        if (preconditioner) preconditioner(p, p_hat);
        a(p_step, v);
        VectorProgram<V> first;
        first.dot(shadow, v, shadow_v);
        first.compute(alpha, rho, Operation::divide_nonzero, shadow_v);
        space.run(first);
        VectorProgram<V> half;
        half.set(s, {{r}, {v, alpha, V(-1)}});
        space.run(half);
        if (preconditioner) preconditioner(s, s_hat);
        a(s_step, t);
        VectorProgram<V> second;
        second.dot(t, s, ts);
        second.dot(t, t, tt);
        second.compute(omega, ts, Operation::divide_nonzero, tt);
        if (fused) {
          second.dot(shadow, s, shadow_s);
          second.dot(shadow, t, shadow_t);
          second.dot(s, s, ss);
          second.dot(s, t, st);
          second.compute(part, omega, Operation::multiply, shadow_t);
          second.compute(next, shadow_s, Operation::subtract, part);
          second.compute(part, omega, Operation::multiply, st);
          second.compute(square, ss, Operation::subtract, part);
        }
        space.run(second);
        VectorProgram<V> step;
        step.set(x, {{x}, {p_step, alpha}, {s_step, omega}});
        step.set(r, {{s}, {t, omega, V(-1)}});
        if (!fused) {
          step.dot(shadow, r, next);
          step.dot(r, r, square);
        }
        step.compute(beta, next, Operation::divide_nonzero, rho);
        step.compute(beta_omega, beta, Operation::multiply, alpha);  // βω
        step.compute(beta, beta_omega, Operation::divide_nonzero, omega);
        step.compute(rho, next, Operation::copy);
        space.run(step);
        VectorProgram<V> onward;
        onward.set(p, {{r}, {p, beta}, {v, beta_omega, V(-1)}});
        space.run(onward);
      });
      loop.multiplied(2);
      loop.launched();
    }
  }
  return loop.result();
}

}  // namespace detail

// `x` has the first guess and gets the solution. An empty preconditioner is the identity.
template <class Space>
SolveResult bicgstab(Space& space, const Operator<Space>& a, const Operator<Space>& preconditioner,
                     typename Space::ConstView b, typename Space::View x,
                     const SolveOptions& options = {}) {
  return detail::bicgstab(space, a, preconditioner, b, x, options, false);
}

// The same with two reductions per iteration instead of three.
template <class Space>
SolveResult fused_bicgstab(Space& space, const Operator<Space>& a,
                           const Operator<Space>& preconditioner, typename Space::ConstView b,
                           typename Space::View x, const SolveOptions& options = {}) {
  return detail::bicgstab(space, a, preconditioner, b, x, options, true);
}

}  // namespace strata::solvers
