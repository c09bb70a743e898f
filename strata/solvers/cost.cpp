#include "strata/solvers/cost.hpp"

#include <algorithm>

namespace strata::solvers {

namespace {

// (Q, w) and w − Qh, twice, for a basis of `columns`; norms, scaling and the solution besides.
// Fused, both times in one pass for inner products and one for the rest.
VectorWork gram_schmidt(double columns, bool fused) {
  if (fused) {
    return {.moved = (columns + 1) + (columns + 3) + 1,
            .flops = 8 * columns + 6,
            .passes = 2,
            .reductions = 1};
  }
  return {.moved = 2 * ((columns + 1) + (columns + 2)) + 1 + 1 + 2 + 1,
          .flops = 8 * columns + 6,
          .passes = 7,
          .reductions = 4};
}

// [Q, V]ᴴV and V = (V − QS)R⁻¹, twice, for a block of s behind so many columns: of one iteration.
// Fused as above.
VectorWork block_gram_schmidt(double columns, double s, bool fused) {
  const double all = columns + s;
  if (fused) {
    return {.moved = (all + all + 2 * s) / s + 1,
            .flops = 8 * all + 2,
            .passes = 2 / s,
            .reductions = 1 / s};
  }
  return {.moved = 2 * (all + all + s) / s + 1,
          .flops = 8 * all + 2,
          .passes = 4 / s,
          .reductions = 2 / s};
}

}  // namespace

VectorWork vector_work_of(const LinearSolverOptions& options) {
  const double s = options.powers;
  const bool fused = options.fused;
  switch (options.method) {
    case Method::cg:
      return fused ? VectorWork{.moved = 12, .flops = 12, .passes = 2, .reductions = 1}
                   : VectorWork{.moved = 10, .flops = 10, .passes = 3, .reductions = 2};
    case Method::minres:
      return fused ? VectorWork{.moved = 12, .flops = 16, .passes = 3, .reductions = 1}
                   : VectorWork{.moved = 17, .flops = 18, .passes = 4, .reductions = 2};
    case Method::bicgstab:
      return fused ? VectorWork{.moved = 22, .flops = 28, .passes = 5, .reductions = 2}
                   : VectorWork{.moved = 22, .flops = 24, .passes = 5, .reductions = 3};
    case Method::gmres: return gram_schmidt((options.restart + 1) / 2.0, fused);
    // G of 2s + 1 columns, then one pass over 3s + 2 of them that changes 2s + 2; and (r, r).
    case Method::ca_cg: {
      const double norm = fused ? 0 : 1;
      return {.moved = ((3 * s + 1) + (3 * s + 2) + (2 * s + 2) + norm) / s,
              .flops = 2 * ((3 * s + 1) * (s + 1) + 2 * s * (s + 2) + 4 * s - 1 + norm) / s,
              .passes = (2 + norm) / s,
              .reductions = (1 + norm) / s};
    }
    case Method::ca_gmres:
      return block_gram_schmidt(std::max(options.restart, options.powers) / 2.0, s, fused);
    case Method::chebyshev: break;
  }
  // r = b − Ax with its norm, x + p(A)r, and the sum, which a sweep reads and writes once per
  // power.
  const double sweep = options.degree + 1;
  return {.moved = (3 + 3 + 2.0 * options.degree + 2) / sweep,
          .flops = (4 + 2 + 2.0 * options.degree) / sweep,
          .passes = 3 / sweep,
          .reductions = 1 / sweep};
}

IterationCost predict_iteration(const LinearSolverOptions& options, const ProductTimes& products,
                                Offset rows, Offset value_bytes, const DeviceRates& rates) {
  IterationCost cost;
  switch (options.method) {
    case Method::ca_cg:
    case Method::ca_gmres: cost.products = products.powers / products.power; break;
    case Method::chebyshev:
      cost.products = (products.powers + products.product) / (products.power + 1);
      break;
    case Method::bicgstab: cost.products = 2 * products.product; break;
    default: cost.products = products.product;
  }
  const VectorWork work = vector_work_of(options);
  const auto elements = static_cast<double>(rows);
  cost.vectors =
      std::max(elements * work.moved * static_cast<double>(value_bytes) / rates.bytes_per_second,
               elements * work.flops / rates.flops_per_second) +
      work.passes * rates.pass_seconds;
  return cost;
}

}  // namespace strata::solvers
