// ProcessorPowers: a plan for powers on a processor, as solvers use it.
//
//   ProcessorPowers<double, std::int32_t> powers(matrix, {.power = 8});
//   ProcessorSpace<double> space(powers.plan().vector_rows(), powers.plan().threads());
#pragma once

#include <utility>

#include "strata/plans/power_plan.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

// Vectors are in the order of the plan, whatever the options say.
template <Value V, Index I>
class ProcessorPowers final : public Powers<ProcessorSpace<V>> {
 public:
  ProcessorPowers(const Csr<V, I>& matrix, PowerOptions options)
      : plan_(plan_powers(matrix, in_plan_order(std::move(options)))),
        workspace_(plan_.make_workspace_for_sum()) {}

  int power() const override { return plan_.power(); }
  void set_basis(const Basis& basis) override { plan_.set_basis(basis); }
  void multiply(std::span<const V> x, std::span<V> y) override { plan_.multiply(x, y, workspace_); }
  void apply_first(int count, std::span<const V> x, std::span<V> powers) override {
    const ClockedScope clock(seconds_);
    plan_.apply_first(count, x, powers, workspace_);
  }
  void apply_sum(std::span<const V> x, std::span<const V> coefficients, std::span<V> sum) override {
    const ClockedScope clock(seconds_);
    plan_.apply_sum(x, coefficients, sum, workspace_);
  }
  // Not clocked: what others are compared with.
  void apply_last(std::span<const V> x, std::span<V> last) {
    plan_.apply_last(x, last, workspace_);
  }

  const PowerPlan<V, I>& plan() const { return plan_; }
  double seconds() const { return seconds_; }  // spent in apply_first and apply_sum
  void update_values(const Csr<V, I>& matrix) { plan_.update_values(matrix); }

 private:
  static PowerOptions in_plan_order(PowerOptions options) {
    options.vector_order = VectorOrder::plan;
    return options;
  }

  PowerPlan<V, I> plan_;
  typename PowerPlan<V, I>::Workspace workspace_;
  double seconds_ = 0;
};

}  // namespace strata::solvers
