// Products y = αAx + βy with a plan: analysed once, applied many times, on all threads. The plan
// chooses the format and says why.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/plans/product_plan.hpp"

int main() {
  const auto matrix = strata::generate<double, std::int32_t>("fem:60x60,degree=3");
  const auto plan = strata::plan_product(matrix);
  auto workspace = plan.make_workspace();

  const std::vector<double> x(plan.cols(), 1.0);
  std::vector<double> y(plan.rows());
  plan.apply(x, y, workspace);             // y = Ax
  plan.apply(-2.0, x, 1.0, y, workspace);  // y = y − 2Ax = −Ax

  // The reference kernels are slow, obvious and there to compare with.
  std::vector<double> expected(plan.rows());
  strata::reference::spmv(matrix, -1.0, x, 0.0, expected);
  double difference = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    difference = std::max(difference, std::abs(y[i] - expected[i]));
  }
  std::printf("%s\nlargest difference to the reference: %g\n", plan.explain().c_str(), difference);
  return difference < 1e-12 ? 0 : 1;
}
