#include "strata/measure/power_contest.hpp"

#include <algorithm>

#include "strata/base/instantiate.hpp"
#include "strata/measure/internal/planned_powers.hpp"

namespace strata {

namespace {

// The backend of PlannedPowers for processors.
template <Value V, Index I>
class ProcessorPowers {
 public:
  using value_type = V;
  using index_type = I;
  using Plan = PowerPlan<V, I>;
  using Workspace = typename Plan::Workspace;
  using Vector = Array<V>;

  ProcessorPowers(const MachineProfile& profile, VectorOrder order)
      : profile_(profile), in_plan_order_(order == VectorOrder::plan) {}

  Plan plan(const Csr<V, I>& matrix, const PowerOptions& options) {
    return plan_powers(matrix, options);
  }
  Workspace workspace(const Plan& plan) { return plan.make_workspace(); }
  Vector vector(Offset elements) { return Vector(static_cast<std::size_t>(elements)); }

  void load(const Plan& plan, std::span<const V> rows, Vector& x) {
    if (in_plan_order_) {
      plan.to_plan_order(rows, x);
    } else {
      std::ranges::copy(rows, x.begin());
    }
  }

  void reserve(Offset elements) {
    powers_.resize(std::max(powers_.size(), static_cast<std::size_t>(elements)));
  }
  void apply(const Plan& plan, const Vector& x, Workspace& workspace) {
    plan.apply(x, output(plan), workspace);
  }
  TaskTrace trace(const Plan& plan, const Vector& x, Workspace& workspace) {
    return plan.trace(x, output(plan), workspace);
  }
  void poison(Offset elements) {
    strata::poison<V>(std::span(powers_).first(static_cast<std::size_t>(elements)));
  }

  Array<V> powers(const Plan& plan, Workspace&) {
    const std::span<const V> computed = output(plan);
    if (!in_plan_order_) return Array<V>(computed.begin(), computed.end());
    const std::size_t padded = computed.size() / plan.power();
    const std::size_t each = static_cast<std::size_t>(plan.rows()) * plan.vectors();
    Array<V> powers(each * plan.power());
    for (std::size_t k = 0; k < static_cast<std::size_t>(plan.power()); ++k) {
      plan.to_caller_order(computed.subspan(k * padded, padded),
                           std::span(powers).subspan(k * each, each));
    }
    return powers;
  }

  Array<I> row_order(const Plan& plan) {
    const Permutation<I> order = without_padding(plan.order());
    return Array<I>(order.old_of_new().begin(), order.old_of_new().end());
  }

  void describe(const Plan& plan, PowerResult& result) {
    result.context.threads = plan.threads();
    result.memory_bandwidth = profile_.memory_bandwidth(plan.threads());
  }

 private:
  std::span<V> output(const Plan& plan) {
    return std::span(powers_).first(static_cast<std::size_t>(plan.vector_rows()) * plan.vectors() *
                                    plan.power());
  }

  const MachineProfile& profile_;
  const bool in_plan_order_;
  Array<V> powers_;
};

}  // namespace

template <Value V, Index I>
void hold_power_contest(const Csr<V, I>& matrix, const PowerSweep& sweep,
                        const MachineProfile& profile, const ContestOptions& options,
                        const PowerResultsDone& done) {
  const int vectors = sweep.options.vectors;
  ProcessorPowers<V, I> processor(profile, sweep.options.vector_order);
  internal::PlannedPowers<ProcessorPowers<V, I>> plans(matrix, vectors, options.seed, processor);
  internal::hold_power_contest(
      {.plan = [&](const PowerOptions& asked) { return plans.plan(asked); },
       .work = internal::work_on(matrix, vectors, true)},
      sweep, options, done);
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template void hold_power_contest(const Csr<V, I>&, const PowerSweep&, const MachineProfile&, \
                                   const ContestOptions&, const PowerResultsDone&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
