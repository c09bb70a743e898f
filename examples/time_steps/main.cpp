// Explicit time steps of the heat equation on a long plate, u ← (I − τA)u, a product each. How many
// of them one sweep over the matrix takes is the plan's choice, for this machine and so many steps.
// A sine mode decays by a factor that is known.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <span>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/plans/power_plan.hpp"

int main() {
  constexpr int nx = 63, ny = 1023, steps = 500;
  constexpr double tau = 0.2, pi = std::numbers::pi;
  auto step = strata::generate<double, std::int32_t>("stencil5:63x1023");  // A: 4, −1, −1, −1, −1
  for (double& value : step.mutable_values()) value = value > 0 ? 1 - tau * value : -tau * value;

  std::vector<double> u;  // sin(πx) sin(2πy)
  for (int y = 1; y <= ny; ++y) {
    for (int x = 1; x <= nx; ++x) {
      u.push_back(std::sin(pi * x / (nx + 1)) * std::sin(2 * pi * y / (ny + 1)));
    }
  }
  const double eigenvalue = 4 - 2 * std::cos(pi / (nx + 1)) - 2 * std::cos(2 * pi / (ny + 1));
  const double expected = std::pow(1 - tau * eigenvalue, steps) * u[nx / 2];

  const auto plan = strata::plan_powers(step, {.products = steps});
  auto workspace = plan.make_workspace();
  std::vector<double> powers(u.size() * plan.power());
  for (int done = 0; done < steps;) {
    const int count = std::min(plan.power(), steps - done);  // the last ones may be fewer
    const auto computed = std::span(powers).first(u.size() * count);
    plan.apply_first(count, u, computed, workspace);
    std::ranges::copy(computed.last(u.size()), u.begin());
    done += count;
  }

  const double error = std::abs(u[nx / 2] - expected);
  std::printf("%s\n%d steps, %d per sweep: u = %.12f, off by %.1e\n",
              strata::power_reason(plan.record()).c_str(), steps, plan.power(), u[nx / 2], error);
  return error < 1e-12 ? 0 : 1;
}
