// Plans whose types are chosen at run time, for matrices whose types are (formats/any_matrix.hpp).
//
//   const strata::AnyProductPlan plan = strata::plan_product(any_matrix);
//   std::visit([](const auto& made) { std::puts(made.explain().c_str()); }, plan);
//   strata::plan_record(plan).choice().format   // what all of them know without a visit
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <variant>

#include "strata/formats/any_matrix.hpp"
#include "strata/plans/power_plan.hpp"
#include "strata/plans/product_plan.hpp"

namespace strata {

namespace detail {
// A plan for each matrix of a variant of matrices.
template <template <class, class> class Plan, class Matrices>
struct PlansOf;
template <template <class, class> class Plan, class... V, class... I>
struct PlansOf<Plan, std::variant<Csr<V, I>...>> {
  using type = std::variant<Plan<V, I>...>;
};
template <class V, class I>
using ProductPlanOf = ProductPlan<V, I>;
template <class V, class I>
using PowerPlanOf = PowerPlan<V, I>;
}  // namespace detail

// The plan of the same types as the matrix it is made for.
using AnyProductPlan = detail::PlansOf<detail::ProductPlanOf, AnyMatrix>::type;
using AnyPowerPlan = detail::PlansOf<detail::PowerPlanOf, AnyMatrix>::type;

// As plan_product and plan_powers for the matrix that it is.
AnyProductPlan plan_product(const AnyMatrix& matrix, const ProductOptions& options = {});
AnyPowerPlan plan_powers(const AnyMatrix& matrix, const PowerOptions& options = {});

// What is the same for all types.
const PlanRecord& plan_record(const AnyProductPlan& plan);
const PlanRecord& plan_record(const AnyPowerPlan& plan);
Precision precision_of(const AnyProductPlan& plan);
Precision precision_of(const AnyPowerPlan& plan);

}  // namespace strata
