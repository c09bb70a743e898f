// Solves Ax = b for a Laplacian by conjugate gradients: a product plan and a few loops.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include "strata/gen/generate.hpp"
#include "strata/plans/product_plan.hpp"

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

int main() {
  const auto matrix = strata::generate<double, std::int32_t>("stencil7:40x40x40");
  const auto plan = strata::plan_product(matrix);
  auto workspace = plan.make_workspace();
  const std::vector<double> b(plan.rows(), 1.0);
  std::vector<double> x(b.size(), 0.0), r = b, p = r, q(b.size());
  double rr = dot(r, r);
  int steps = 0;
  for (; std::sqrt(rr) > 1e-8 * std::sqrt(dot(b, b)) && steps < 1000; ++steps) {
    plan.apply(p, q, workspace);  // q = Ap
    const double alpha = rr / dot(p, q);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    const double before = std::exchange(rr, dot(r, r));
    for (std::size_t i = 0; i < x.size(); ++i) p[i] = r[i] + rr / before * p[i];
  }
  r = b;
  plan.apply(-1.0, x, 1.0, r, workspace);  // r = b − Ax
  std::printf("%d steps, relative residual %.1e\n", steps, std::sqrt(dot(r, r) / dot(b, b)));
  return std::sqrt(dot(r, r) / dot(b, b)) < 1e-7 ? 0 : 1;
}
