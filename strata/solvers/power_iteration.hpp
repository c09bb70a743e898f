// Power iteration: the eigenvalue of largest modulus, of any matrix where it is real and alone.
//
//   w = Av,  λ = (v, w),  v = w / ‖w‖,   until ‖w − λv‖ is small
//
//   R. von Mises, H. Pollaczek-Geiringer, Praktische Verfahren der Gleichungsauflösung, Z. Angew.
//   Math. Mech. 9, 1929
//
// An iteration has one product and four passes over vectors.
#pragma once

#include "strata/solvers/thick_restart.hpp"

namespace strata::solvers {

// `v` begins with something that is not 0 and gets the eigenvector.
template <class Space>
EigenResult power_iteration(Space& space, const Operator<Space>& a, typename Space::View v,
                            const EigenOptions& options = {}) {
  using V = typename Space::Value;
  using Real = decltype(std::abs(V()));
  if (!(options.tolerance > 0)) throw InvalidArgument("the tolerance must be positive");
  auto product = space.make_vector(), difference = space.make_vector();
  typename Space::View w(product), r(difference);
  const Scalar projection = space.make_scalars(4), square = projection + 1;
  const Scalar rest = projection + 2, inverse = projection + 3;
  EigenResult result;
  VectorProgram<V> measure;
  measure.dot(v, v, square);
  space.run(measure);
  double length = std::sqrt(static_cast<double>(std::real(space.read(square))));
  const auto end = [&](SolveStatus status, std::string message) {
    result.status = status;
    result.message = std::move(message);
  };
  if (!(length > 0)) {
    end(SolveStatus::breakdown, "the first vector is 0");
    return result;
  }
  double best = std::numeric_limits<double>::infinity();
  int without_progress = 0;
  while (true) {
    space.write(inverse, V(static_cast<Real>(1 / length)));
    VectorProgram<V> normalise;
    normalise.set(v, {{v, inverse}});
    space.run(normalise);
    a(v, w);
    ++result.products;
    VectorProgram<V> project;
    project.dot(v, w, projection);
    project.dot(w, w, square);
    space.run(project);
    VectorProgram<V> residual;
    residual.set(r, {{w}, {v, projection, V(-1)}});
    residual.dot(r, r, rest);
    space.run(residual);
    V known[3];
    space.read(projection, known);
    const double value = static_cast<double>(std::real(known[0]));
    const double turned = static_cast<double>(std::imag(known[0]));
    length = std::sqrt(static_cast<double>(std::real(known[1])));
    if (!std::isfinite(length)) {
      end(SolveStatus::not_finite, "products with the matrix are not finite");
      return result;
    }
    result.norm = std::max(result.norm, std::abs(value));
    const double left = std::sqrt(static_cast<double>(std::real(known[2])));
    const double relative = result.norm > 0 ? left / result.norm : left;
    result.values = {value};
    result.residuals = {relative};
    ++result.restarts;
    result.history.push_back({.number = result.restarts,
                              .products = result.products,
                              .converged = relative <= options.tolerance ? 1 : 0,
                              .residual = relative});
    if (relative <= options.tolerance || length == 0) {
      if (std::abs(turned) > options.tolerance * result.norm) {
        end(SolveStatus::breakdown, "the eigenvalue of largest modulus is not real");
      }
      return result;
    }
    if (options.progress && !options.progress(result.history.back())) {
      end(SolveStatus::stopped, fmt::format("stopped after {} products", result.products));
      return result;
    }
    if (result.products >= options.most_products) {
      end(SolveStatus::most_iterations,
          fmt::format("{} products were not enough", result.products));
      return result;
    }
    without_progress = relative < 0.999 * best ? 0 : without_progress + 1;
    best = std::min(best, relative);
    if (without_progress >= 1000) {
      end(SolveStatus::stagnated,
          fmt::format("the residual stays at {:.1e}: there may be several eigenvalues of largest "
                      "modulus, or a pair that is complex",
                      best));
      return result;
    }
    VectorProgram<V> next;
    next.set(v, {{w}});
    space.run(next);
  }
}

}  // namespace strata::solvers
