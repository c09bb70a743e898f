// Methods without a matrix: conjugate gradients with an operator that is a function, here -Δ on a
// grid of the unit square with u = 0 around it. Each method of strata/solvers is a template over a
// space, which has the vectors; an operator is anything that computes y = Ax.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

#include "strata/base/parallel.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/processor_space.hpp"

int main() {
  using Space = strata::solvers::ProcessorSpace<double>;
  constexpr std::size_t n = 255;  // inner points in a row
  constexpr double h = 1.0 / (n + 1), pi = std::numbers::pi;
  const strata::solvers::Operator<Space> laplacian = [](std::span<const double> u,
                                                        std::span<double> y) {
    strata::parallel_for(n, [&](strata::Offset row) {
      const std::size_t begin = static_cast<std::size_t>(row) * n;
      for (std::size_t i = begin; i < begin + n; ++i) {
        double sum = 4 * u[i];
        if (i > begin) sum -= u[i - 1];
        if (i + 1 < begin + n) sum -= u[i + 1];
        if (begin > 0) sum -= u[i - n];
        if (begin + n < n * n) sum -= u[i + n];
        y[i] = sum / (h * h);
      }
    });
  };

  // f for the solution sin(πx) sin(2πy) of the grid, which is one of its eigenvectors.
  const double eigenvalue = (4 - 2 * std::cos(pi * h) - 2 * std::cos(2 * pi * h)) / (h * h);
  std::vector<double> exact(n * n), f(n * n), u(n * n, 0.0);
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      const double wave = std::sin(pi * h * static_cast<double>(x + 1)) *
                          std::sin(2 * pi * h * static_cast<double>(y + 1));
      exact[y * n + x] = wave;
      f[y * n + x] = eigenvalue * wave;
    }
  }
  for (double& value : u) value = 1;  // a guess that is no eigenvector
  Space space(static_cast<strata::Offset>(n * n));
  const auto result = strata::solvers::conjugate_gradients<Space>(
      space, laplacian, /*preconditioner=*/{}, f, u, {.tolerance = 1e-10, .most_iterations = 2000});
  double error = 0;
  for (std::size_t i = 0; i < u.size(); ++i) error = std::max(error, std::abs(u[i] - exact[i]));
  std::printf("%d iterations, residual %.1e, error %.1e\n", result.iterations, result.residual,
              error);
  return result.status == strata::solvers::SolveStatus::converged && error < 1e-6 ? 0 : 1;
}
