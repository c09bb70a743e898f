// Powers: what s-step methods, filters and functions of matrices need of a plan for powers, the
// same for processors and GPUs.
#pragma once

#include <span>

#include "strata/plans/basis.hpp"

namespace strata::solvers {

// Vectors are in the order of the plan. Must not keep the views.
template <class Space>
class Powers {
 public:
  using Value = typename Space::Value;
  using View = typename Space::View;
  using ConstView = typename Space::ConstView;

  virtual ~Powers() = default;

  virtual int power() const = 0;
  // Other vectors from now on; as PowerPlan::set_basis.
  virtual void set_basis(const Basis& basis) = 0;
  // y = Ax, whatever the basis.
  virtual void multiply(ConstView x, View y) = 0;
  // [y_1, …, y_count], one after another, of at most power().
  virtual void apply_first(int count, ConstView x, View powers) = 0;
  void apply(ConstView x, View powers) { apply_first(power(), x, powers); }
  // Σ c_k y_k, k = 0 … p, keeping a few of them.
  virtual void apply_sum(ConstView x, std::span<const Value> coefficients, View sum) = 0;
};

}  // namespace strata::solvers
