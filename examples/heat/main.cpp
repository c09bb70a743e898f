// The heat equation ∂u/∂t = Δu on the unit square, with u = 0 around it, from one time to another
// in one go: u(t) = exp(tA) u(0), A the Laplacian on a grid. No time steps, no systems to solve. A
// sine mode decays by a factor that is known: exactly that of the grid, and up to O(h²) that of the
// square.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/solvers/exponential.hpp"

int main() {
  constexpr int n = 127;  // inner points in a row
  constexpr double h = 1.0 / (n + 1), pi = std::numbers::pi;
  auto laplacian = strata::generate<double, std::int32_t>("stencil5:127x127");  // 4, −1, −1, −1, −1
  for (double& value : laplacian.mutable_values()) value *= -1 / (h * h);

  std::vector<double> start;  // sin(πx) sin(2πy)
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) start.push_back(std::sin(pi * x * h) * std::sin(2 * pi * y * h));
  }
  const double of_square = -5 * pi * pi;
  const double of_grid = (2 * std::cos(pi * h) + 2 * std::cos(2 * pi * h) - 4) / (h * h);

  strata::solvers::MatrixExponential<double, std::int32_t> exponential(laplacian);
  std::vector<double> u(start.size());
  bool right = true;
  std::printf("    time   products   error bound   error (grid)   error (square)\n");
  for (const double time : {0.001, 0.01, 0.05}) {
    const auto result = exponential.apply(time, start, u);
    double grid = 0, square = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      grid = std::max(grid, std::abs(u[i] - std::exp(of_grid * time) * start[i]));
      square = std::max(square, std::abs(u[i] - std::exp(of_square * time) * start[i]));
    }
    std::printf("%8.3f %10lld %13.1e %14.1e %16.1e\n", time,
                static_cast<long long>(result.products), result.error, grid, square);
    right = right && grid < 1e-11 && square < 200 * h * h * time;
  }
  std::printf("%s\n", right ? "The mode decays as it should." : "The mode does not decay rightly.");
  return right ? 0 : 1;
}
