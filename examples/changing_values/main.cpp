// Heat conduction with a conductivity that depends on the temperature, by implicit steps in time:
// every step solves a system whose values are new and whose pattern is not. The solver is planned
// once; update_values is all that a step needs, and the last temperature is the first guess.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace {

using Matrix = strata::Csr<double, std::int32_t>;

// I − dt ∇·(k(u)∇) on a grid of n × n points: a link conducts by the mean of its two ends.
void assemble(Matrix& matrix, const std::vector<double>& u, double dt_over_h2) {
  const auto conductivity = [](double temperature) { return 1 + temperature * temperature; };
  for (std::int32_t row = 0; row < matrix.rows(); ++row) {
    double leaving = 4 * conductivity(u[row]) * 0.5;  // half of every link, edges included
    std::int64_t diagonal = -1;
    for (auto k = matrix.row_offsets()[row]; k < matrix.row_offsets()[row + 1]; ++k) {
      const std::int32_t column = matrix.columns()[k];
      if (column == row) {
        diagonal = k;
        continue;
      }
      const double half = 0.5 * conductivity(u[column]);
      matrix.mutable_values()[k] = -dt_over_h2 * (0.5 * conductivity(u[row]) + half);
      leaving += half;
    }
    matrix.mutable_values()[diagonal] = 1 + dt_over_h2 * leaving;
  }
}

}  // namespace

int main() {
  using strata::solvers::Method;
  using strata::solvers::Preconditioner;
  constexpr int n = 100, steps = 5;
  Matrix matrix = strata::generate<double, std::int32_t>("stencil5:100x100");
  std::vector<double> u(n * n, 0.0);
  for (int y = 40; y < 60; ++y) {
    for (int x = 40; x < 60; ++x) u[y * n + x] = 1.0;  // a hot square in the middle
  }
  assemble(matrix, u, 2.0);
  strata::solvers::LinearSolver<double, std::int32_t> solver(
      matrix, {.method = Method::cg, .preconditioner = Preconditioner::jacobi});
  double hottest = 1;
  bool right = true;
  std::printf("step  iterations  |b-Ax|/|b|  hottest\n");
  for (int step = 1; step <= steps; ++step) {
    const std::vector<double> before = u;
    const auto result = solver.solve(before, u, {.tolerance = 1e-10});
    double now = 0;
    for (const double value : u) now = std::fmax(now, value);
    std::printf("%4d %11d %11.1e %8.4f\n", step, result.iterations, result.residual, now);
    // Heat flows from hot to cold and never below zero: it only becomes cooler.
    right = right && result.status == strata::solvers::SolveStatus::converged && now < hottest &&
            now > 0;
    hottest = now;
    assemble(matrix, u, 2.0);
    solver.update_values(matrix);
  }
  std::printf("%s\n", right ? "It cools, as it should." : "Something is wrong.");
  return right ? 0 : 1;
}
