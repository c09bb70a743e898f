#include "strata/plans/gpu/internal/prediction.hpp"

#include <algorithm>
#include <string>

#include "strata/model/persistent_sweep_model.hpp"
#include "strata/model/power_model.hpp"

namespace strata::gpu::detail {

namespace {

// How long a tile waits, fitted to 7- and 27-point stencils on an H200
// (model/persistent_sweep_model.hpp).
constexpr double kLoadSeconds = 6.5e-6;
constexpr double kStepSeconds = 1.8e-6;

// What of the L2 cache's bandwidth powers reach that read all their tiles through it: they wait for
// x as well.
constexpr double kL2Share = 0.68;

// body(powers) for each sweep.
template <class Body>
void for_each_block(int power, int block, const Body& body) {
  for (int first = 0; first < power; first += block) body(std::min(block, power - first));
}

// Until a small kernel behind others runs at full speed. A graph saves the launches, where these
// take longer than that.
double kernel_overhead(const GpuProfile& profile, bool in_graph) {
  return std::max(profile.hockney.overhead_seconds,
                  in_graph ? profile.graph_node_seconds : profile.launch_seconds);
}

}  // namespace

void predict_plain(PowerCandidate& candidate, const PowersToPredict& powers, double rows,
                   const GpuProfile& profile) {
  candidate.memory_bytes =
      (static_cast<double>(candidate.format_bytes) + 2 * powers.row_bytes * rows) * powers.power;
  candidate.predicted_seconds = candidate.memory_bytes / profile.memory_bandwidth();
  candidate.predicted_overlapped_seconds = candidate.predicted_seconds;
  candidate.bound = std::string("dram");
}

void predict_sweeps(PowerCandidate& candidate, const PowersToPredict& powers,
                    const SweepToPredict& sweep, const GpuProfile& profile) {
  const double l2 =
      profile.l2_bandwidth() * (sweep.placement == WindowPlacement::l2 ? kL2Share : 1);
  const PersistentSweepRates rates{profile.memory_bandwidth(), l2, kLoadSeconds, kStepSeconds,
                                   profile.handoff_seconds};
  PersistentSweepCosts costs;
  costs.matrix_bytes = static_cast<double>(candidate.format_bytes);
  costs.vector_bytes = powers.row_bytes * sweep.rows;
  // A row of x per line that a slice touches, as far as the nearest cache does not have it.
  costs.gather_bytes = powers.row_bytes * std::min(powers.entries, 10 * sweep.rows);
  costs.in_l2 = sweep.placement == WindowPlacement::l2;
  costs.tiles = sweep.tiles;
  costs.workers = sweep.workers;
  costs.held_tiles = sweep.held_tiles;
  costs.dependency_distance = sweep.dependency_distance;
  for_each_block(powers.power, candidate.block, [&](int block) {
    costs.power = block;
    const PersistentSweepPrediction prediction = predict_persistent_sweep(costs, rates);
    candidate.predicted_seconds += prediction.seconds;
    candidate.bound = prediction.bound;
    candidate.memory_bytes += costs.matrix_bytes + costs.vector_bytes * (block + 1);
  });
  candidate.predicted_overlapped_seconds = candidate.memory_bytes / rates.memory;
}

void predict_levels(PowerCandidate& candidate, const PowersToPredict& powers,
                    const LevelsToPredict& levels, const GpuProfile& profile) {
  Rates rates;
  rates.memory = profile.memory_bandwidth();
  rates.cache = profile.l2_bandwidth();
  rates.synchronisation_seconds = kernel_overhead(profile, levels.in_graph);
  const auto matrix = static_cast<double>(candidate.format_bytes);
  const bool stays = candidate.window_bytes <= l2_bytes_of(profile);
  SweepCosts costs;
  for_each_block(powers.power, candidate.block, [&](int block) {
    costs.memory_bytes +=
        matrix * (stays ? 1 : block) + powers.row_bytes * levels.rows * (block + 1);
    costs.cache_bytes += stays ? matrix * (block - 1) : 0;
    costs.synchronisations += static_cast<int>(levels.groups) * block;
  });
  const Prediction prediction = predict_without_overlap(costs, rates);
  candidate.memory_bytes = costs.memory_bytes;
  candidate.predicted_seconds = prediction.seconds;
  candidate.predicted_overlapped_seconds = predict_with_overlap(costs, rates).seconds;
  candidate.bound = prediction.bound == "cache" ? "l2" : prediction.bound;
}

Offset l2_bytes_of(const GpuProfile& profile) {
  return profile.l2_bytes() > 0 ? profile.l2_bytes() : profile.device.l2_bytes;
}

}  // namespace strata::gpu::detail
