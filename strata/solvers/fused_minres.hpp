// MINRES with one reduction per iteration, for vectors whose parts are far from each other: what
// distributed solvers run instead of minres.hpp.
//
//   v = b − Ax
//   repeat  z = M⁻¹v,  q = Az
//           γ = √(v, z),  δ = (q, z)/γ²                            (one reduction)
//           the rotations of the iteration before, whose γ⁺ is γ   (minres.hpp)
//           v⁺ = q/γ − (δ/γ) v − (γ/γ⁻) v⁻
//
// Vectors are multiplied before their norm is known, and scaled afterwards; otherwise the method is
// that of minres.hpp, and rounding the same. The residual of an iteration is known with the next
// product: a cycle has one product and one reduction more than iterations.
#pragma once

#include "strata/solvers/minres.hpp"

namespace strata::solvers {

// As minres.
template <class Space>
SolveResult fused_minres(Space& space, const Operator<Space>& a,
                         const Operator<Space>& preconditioner, typename Space::ConstView b,
                         typename Space::View x, const SolveOptions& options = {}) {
  using V = typename Space::Value;
  const auto real = [](double value) { return V(static_cast<decltype(std::abs(V()))>(value)); };
  // The host reads the first two and writes the others.
  const Scalar square = space.make_scalars(9), projection = square + 1, of_q = square + 2;
  const Scalar of_v = square + 3, of_old = square + 4;
  const Scalar of_z = square + 5, of_w = square + 6, of_old_w = square + 7, length = square + 8;
  auto v = space.make_vector(), old_v = space.make_vector(), next_v = space.make_vector();
  auto w = space.make_vector(), old_w = space.make_vector(), q = space.make_vector();
  auto own_z = preconditioner ? space.make_vector() : typename Space::Vector();
  auto own_old_z = preconditioner ? space.make_vector() : typename Space::Vector();
  auto& z = preconditioner ? own_z : v;
  auto& old_z = preconditioner ? own_old_z : old_v;

  SolveLoop<Space> loop(space, a, b, x, options);
  while (loop.begin_cycle(v)) {
    const double norm = loop.norm_of_residual();
    VectorProgram<V> start;
    start.set(w, {});
    start.set(old_w, {});
    start.set(old_v, {});
    space.run(start);
    std::optional<detail::MinresRotations> rotations;
    double gamma = 1, delta = 0, before = 1;  // of the iteration that waits for γ⁺, and γ⁻
    while (loop.continues()) {
      if (preconditioner) preconditioner(v, z);
      loop.multiply(z, q);
      VectorProgram<V> measure;
      measure.dot(v, z, square);
      measure.dot(q, z, projection);
      space.run(measure);
      V known[2];
      space.read(square, known);
      const double found = static_cast<double>(std::real(known[0]));
      const double next_gamma = std::sqrt(found < 0 ? 0 : found);
      if (!rotations) {
        rotations.emplace(next_gamma);
        if (!(next_gamma > 0)) {
          loop.fail(SolveStatus::breakdown, "the preconditioner is not positive definite");
          break;
        }
      } else {
        const auto turned = rotations->advance(delta, gamma, next_gamma);
        if (!turned) {
          loop.fail(SolveStatus::breakdown,
                    fmt::format("the matrix is singular: iteration {} has no direction left",
                                loop.iterations() + 1));
          break;
        }
        space.write(of_z, real(turned->of_z / gamma));
        space.write(of_w, real(turned->of_w));
        space.write(of_old_w, real(turned->of_old_w));
        space.write(length, real(turned->length));
        VectorProgram<V> step;  // w⁺ takes the place of w⁻
        step.set(old_w, {{old_z, of_z}, {old_w, of_old_w}, {w, of_w}});
        step.set(x, {{x}, {old_w, length}});
        space.run(step);
        std::swap(w, old_w);
        const double residual = rotations->left() * norm;
        loop.iterated(real(residual * residual));
        if (next_gamma == 0 || !loop.continues()) break;  // if 0, the solution is in the space
        before = gamma;
      }
      gamma = next_gamma;
      delta = static_cast<double>(std::real(known[1])) / found;
      space.write(of_q, real(1 / gamma));
      space.write(of_v, real(delta / gamma));
      space.write(of_old, real(gamma / before));
      VectorProgram<V> lanczos;
      lanczos.set(next_v, {{q, of_q}, {v, of_v, V(-1)}, {old_v, of_old, V(-1)}});
      space.run(lanczos);
      std::swap(old_v, v);
      std::swap(v, next_v);
      if (preconditioner) std::swap(z, old_z);
    }
  }
  return loop.result();
}

}  // namespace strata::solvers
