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
#include <optional>

#include "strata/solvers/method.hpp"

namespace strata::solvers {

namespace detail {

// The rotations of MINRES, from one iteration to the next.
class MinresRotations {
 public:
  explicit MinresRotations(double gamma) : eta_(gamma), first_(gamma) {}

  // w⁺ = of_z · z + of_w · w + of_old_w · w⁻, x = x + length · w⁺.
  struct Step {
    double of_z = 0, of_w = 0, of_old_w = 0, length = 0;
  };
  // None where the matrix is singular.
  std::optional<Step> advance(double delta, double gamma, double next_gamma) {
    const double a0 = cosine_ * delta - old_cosine_ * sine_ * gamma;
    const double a1 = std::hypot(a0, next_gamma);
    const double a2 = sine_ * delta + old_cosine_ * cosine_ * gamma;
    const double a3 = old_sine_ * gamma;
    if (a1 == 0) return {};
    old_cosine_ = std::exchange(cosine_, a0 / a1);
    old_sine_ = std::exchange(sine_, next_gamma / a1);
    const Step step{1 / a1, -a2 / a1, -a3 / a1, cosine_ * eta_};
    eta_ *= -sine_;
    return step;
  }
  // Of the norm that the residual began with.
  double left() const { return std::abs(eta_) / first_; }

 private:
  double eta_, first_;
  double cosine_ = 1, old_cosine_ = 1, sine_ = 0, old_sine_ = 0;
};

}  // namespace detail

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
    double old_gamma = 1;
    detail::MinresRotations rotations(gamma);
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
      const auto turned = rotations.advance(d, gamma, next_gamma);
      if (!turned) {
        loop.fail(SolveStatus::breakdown,
                  fmt::format("the matrix is singular: iteration {} has no direction left",
                              loop.iterations() + 1));
        break;
      }
      space.write(of_z, real(turned->of_z));
      space.write(of_w, real(turned->of_w));
      space.write(of_old_w, real(turned->of_old_w));
      space.write(length, real(turned->length));
      VectorProgram<V> step;  // w⁺ takes the place of w⁻
      step.set(old_w, {{z, of_z}, {old_w, of_old_w}, {w, of_w}});
      step.set(x, {{x}, {old_w, length}});
      step.set(z, {{preconditioner ? next_z : next_v}});
      space.run(step);
      std::swap(w, old_w);
      std::swap(old_v, v);
      std::swap(v, next_v);
      old_gamma = std::exchange(gamma, next_gamma);
      const double residual = rotations.left() * norm;
      loop.iterated(real(residual * residual));
      if (gamma == 0) break;  // the solution is in the space
    }
  }
  return loop.result();
}

}  // namespace strata::solvers
