// What methods on processors share: random vectors in the order of a plan, the same whatever that
// order is, and where the time of a method went.
#pragma once

#include <span>

#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/thick_restart.hpp"

namespace strata::solvers {

// For spaces of vectors in the order of a ProductPlan or PowerPlan.
template <Value V, class Plan>
RandomVector<ProcessorSpace<V>> random_in_order_of(const Plan& plan, int vectors = 1) {
  return [&plan, vectors](std::span<V> target, std::uint64_t seed) {
    plan.to_plan_order(random_rows<V>(plan.rows(), vectors, seed), target);
  };
}

// `before` is what the space had clocked when the method began.
inline SolveTimes times_of(double total, double products, const SpaceTimes& before,
                           const SpaceTimes& after) {
  return {.total = total,
          .products = products,
          .orthogonalisation = after.blocks - before.blocks,
          .reductions = after.reductions - before.reductions,
          .updates = after.updates - before.updates};
}

}  // namespace strata::solvers
