// Six Chebyshev vectors of a matrix, planned once and applied twice, and why the plan does it so.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/plans/power_plan.hpp"

int main() {
  const auto matrix = strata::generate<double, std::int32_t>("stencil7:24x24x48");

  strata::PowerOptions options;
  options.power = 6;
  options.basis = strata::Basis::chebyshev(0, 12);  // holds the spectrum of this Laplacian
  const auto plan = strata::plan_powers(matrix, options);

  std::vector<double> x(plan.vector_rows(), 1.0);
  std::vector<double> powers(x.size() * plan.power());
  auto workspace = plan.make_workspace();
  plan.apply(x, powers, workspace);  // y_1, …, y_6, one after another

  std::vector<double> last(x.size());
  auto small_workspace = plan.make_workspace_for_last();
  plan.apply_last(x, last, small_workspace);  // y_6 alone, in the memory of two vectors

  std::printf("%s\ny_6[0] = %g, both ways %s\n", plan.explain().c_str(), last[0],
              last[0] == powers[5 * x.size()] ? "the same" : "different");
  return last[0] == powers[5 * x.size()] ? 0 : 1;
}
