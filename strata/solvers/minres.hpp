// MINRES: for Hermitian matrices that need not be definite, with a definite preconditioner M⁻¹.
//
//   v = b − Ax, z = M⁻¹v, γ = √(v, z), η = γ
//   repeat  z = z/γ,  q = Az,  δ = (q, z)
//           v⁺ = q − (δ/γ) v − (γ/γ⁻) v⁻,  z⁺ = M⁻¹v⁺,  γ⁺ = √(v⁺, z⁺)          (Lanczos)
//           a₀ = cδ − c⁻sγ,  a₁ = √(a₀² + γ⁺²),  a₂ = sδ + c⁻cγ,  a₃ = s⁻γ      (rotations)
//           c⁺ = a₀/a₁,  s⁺ = γ⁺/a₁
//           w⁺ = (z − a₃w⁻ − a₂w) / a₁,  x = x + c⁺η w⁺,  η = −s⁺η
//
//   C. C. Paige, M. A. Saunders, Solution of sparse indefinite systems of linear equations, SIAM J.
//   Numer. Anal. 12, 1975
//   H. Elman, D. Silvester, A. Wathen, Finite elements and fast iterative solvers, 2nd ed., 2014,
//   algorithm 4.1
//
// |η| is the norm of the residual, with a preconditioner that of M⁻¹. An iteration has one product
// and three passes over vectors; the host reads scalars once.
#pragma once

#include <cmath>

#include "strata/solvers/method.hpp"

namespace strata::solvers {

// `x` has the first guess and gets the solution. An empty preconditioner is the identity.
template <class Space>
SolveResult minres(Space& space, const Operator<Space>& a, const Operator<Space>& preconditioner,
                   typename Space::ConstView b, typename Space::View x,
                   const SolveOptions& options = {}) {
  using V = typename Space::Value;
  const auto real = [](double value) { return V(static_cast<decltype(std::abs(V()))>(value)); };
  // The host reads the first two and writes the others.
  const Scalar delta = space.make_scalars(10), next_square = delta + 1, inverse = delta + 2;
  const Scalar of_v = delta + 3, of_old = delta + 4, ratio = delta + 5;
  const Scalar of_z = delta + 6, of_w = delta + 7, of_old_w = delta + 8, length = delta + 9;
  auto v = space.make_vector(), old_v = space.make_vector(), next_v = space.make_vector();
  auto w = space.make_vector(), old_w = space.make_vector(), q = space.make_vector();
  auto z = space.make_vector();
  auto next_z = preconditioner ? space.make_vector() : typename Space::Vector();

  SolveLoop<Space> loop(space, a, b, x, options);
  while (loop.begin_cycle(v)) {
    const double norm = loop.norm_of_residual();
    if (preconditioner) preconditioner(v, z);
    VectorProgram<V> start;
    if (!preconditioner) start.set(z, {{v}});
    start.set(w, {});
    start.set(old_w, {});
    start.set(old_v, {});
    start.dot(v, z, next_square);
    space.run(start);
    double gamma = std::sqrt(static_cast<double>(std::real(space.read(next_square))));
    double old_gamma = 1, eta = gamma, cosine = 1, old_cosine = 1, sine = 0, old_sine = 0;
    const double first = gamma;
    if (!(gamma > 0)) {
      loop.fail(SolveStatus::breakdown, "the preconditioner is not positive definite");
      continue;
    }
    while (loop.continues()) {
      space.write(inverse, real(1 / gamma));
      VectorProgram<V> scale;
      scale.set(z, {{z, inverse}});
      space.run(scale);
      loop.multiply(z, q);
      space.write(ratio, real(1 / gamma));
      space.write(of_old, real(gamma / old_gamma));
      VectorProgram<V> project;
      project.dot(q, z, delta);
      project.compute(of_v, delta, Operation::multiply, ratio);
      space.run(project);
      VectorProgram<V> lanczos;
      lanczos.set(next_v, {{q}, {v, of_v, V(-1)}, {old_v, of_old, V(-1)}});
      if (!preconditioner) lanczos.dot(next_v, next_v, next_square);
      space.run(lanczos);
      if (preconditioner) {
        preconditioner(next_v, next_z);
        VectorProgram<V> measure;
        measure.dot(next_v, next_z, next_square);
        space.run(measure);
      }
      V known[2];
      space.read(delta, known);
      const double d = static_cast<double>(std::real(known[0]));
      const double next_gamma = std::sqrt(std::max(static_cast<double>(std::real(known[1])), 0.0));

      const double a0 = cosine * d - old_cosine * sine * gamma;
      const double a1 = std::hypot(a0, next_gamma);
      const double a2 = sine * d + old_cosine * cosine * gamma;
      const double a3 = old_sine * gamma;
      if (a1 == 0) {
        loop.fail(SolveStatus::breakdown,
                  fmt::format("the matrix is singular: iteration {} has no direction left",
                              loop.iterations() + 1));
        break;
      }
      old_cosine = std::exchange(cosine, a0 / a1);
      old_sine = std::exchange(sine, next_gamma / a1);
      space.write(of_z, real(1 / a1));
      space.write(of_w, real(-a2 / a1));
      space.write(of_old_w, real(-a3 / a1));
      space.write(length, real(cosine * eta));
      VectorProgram<V> step;  // w⁺ takes the place of w⁻
      step.set(old_w, {{z, of_z}, {old_w, of_old_w}, {w, of_w}});
      step.set(x, {{x}, {old_w, length}});
      step.set(z, {{preconditioner ? next_z : next_v}});
      space.run(step);
      std::swap(w, old_w);
      std::swap(old_v, v);
      std::swap(v, next_v);
      eta *= -sine;
      old_gamma = std::exchange(gamma, next_gamma);
      const double residual = std::abs(eta) / first * norm;
      loop.iterated(real(residual * residual));
      if (gamma == 0) break;  // the solution is in the space
    }
  }
  return loop.result();
}

}  // namespace strata::solvers
