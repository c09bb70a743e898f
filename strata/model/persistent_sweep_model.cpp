#include "strata/model/persistent_sweep_model.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace strata {

namespace {

double memory_seconds(const PersistentSweepCosts& costs, const PersistentSweepRates& rates) {
  // The matrix and y_0 in, y_1 … y_p out.
  return (costs.matrix_bytes + costs.vector_bytes * (costs.power + 1)) / rates.memory;
}

double l2_seconds(const PersistentSweepCosts& costs, const PersistentSweepRates& rates) {
  const double visits = costs.in_l2 ? costs.power : 1;
  // A fill from memory is a write into the cache.
  const double matrix = costs.matrix_bytes * (1 + visits);
  const double vectors = (costs.gather_bytes + costs.vector_bytes) * costs.power;
  return (matrix + vectors) / rates.l2;
}

// Every worker takes up a tile per period, and holds `slots` of them: a tile is held for `slots`
// periods, of which the dependency distance is spent on waiting for tiles that come later.
double waiting_seconds(const PersistentSweepCosts& costs, const PersistentSweepRates& rates) {
  const double room = (costs.held_tiles - costs.dependency_distance) / costs.workers;
  if (room <= 0) return std::numeric_limits<double>::infinity();
  const double held = rates.load_seconds + costs.power * rates.step_seconds +
                      (costs.power - 1) * rates.signal_seconds;
  const double rounds = costs.tiles / costs.workers;
  const double busy = costs.warps > 0 ? rates.step_seconds / costs.warps : 0;
  return rounds * std::max(held / room, busy);
}

}  // namespace

PersistentSweepPrediction predict_persistent_sweep(const PersistentSweepCosts& costs,
                                                   const PersistentSweepRates& rates) {
  const std::array<PersistentSweepPrediction, 3> bounds{
      {{memory_seconds(costs, rates), Bound::memory},
       {l2_seconds(costs, rates), Bound::l2},
       {waiting_seconds(costs, rates), Bound::synchronisation}}};
  return *std::ranges::max_element(bounds, {}, &PersistentSweepPrediction::seconds);
}

}  // namespace strata
