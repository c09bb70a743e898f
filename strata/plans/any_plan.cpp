#include "strata/plans/any_plan.hpp"

namespace strata {

AnyProductPlan plan_product(const AnyMatrix& matrix, const ProductOptions& options) {
  return std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        return AnyProductPlan(plan_product(csr, options));
      },
      matrix);
}

AnyPowerPlan plan_powers(const AnyMatrix& matrix, const PowerOptions& options) {
  return std::visit([&]<Value V, Index I>(
                        const Csr<V, I>& csr) { return AnyPowerPlan(plan_powers(csr, options)); },
                    matrix);
}

const PlanRecord& plan_record(const AnyProductPlan& plan) {
  return std::visit([](const auto& made) -> const PlanRecord& { return made.record(); }, plan);
}
const PlanRecord& plan_record(const AnyPowerPlan& plan) {
  return std::visit([](const auto& made) -> const PlanRecord& { return made.record(); }, plan);
}

Precision precision_of(const AnyProductPlan& plan) {
  return std::visit([]<Value V, Index I>(const ProductPlan<V, I>&) { return precision_of<V>(); },
                    plan);
}
Precision precision_of(const AnyPowerPlan& plan) {
  return std::visit([]<Value V, Index I>(const PowerPlan<V, I>&) { return precision_of<V>(); },
                    plan);
}

}  // namespace strata
