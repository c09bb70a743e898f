#include "strata/plans/gpu/internal/prediction.hpp"

#include <algorithm>

#include "strata/model/persistent_sweep_model.hpp"
#include "strata/model/power_model.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

namespace {

using strata::detail::blocks_of;

// How long a tile waits, fitted to 7- and 27-point stencils on an H200
// (model/persistent_sweep_model.hpp).
constexpr double kLoadSeconds = 6.5e-6;
constexpr double kStepSeconds = 1.8e-6;

// The same where values are flags: a load, and a round trip to the L2 cache per power.
constexpr double kFlaggedLoadSeconds = 1.5e-6;
constexpr double kFlaggedStepSeconds = 1.6e-6;

// What of the L2 cache's bandwidth powers reach that read all their tiles through it: they wait for
// x as well.
constexpr double kL2Share = 0.68;

// Until a small kernel behind others runs at full speed. A graph saves the launches, where these
// take longer than that.
double kernel_overhead(const GpuProfile& profile, bool in_graph) {
  return std::max(profile.hockney.overhead_seconds,
                  in_graph ? profile.graph_node_seconds : profile.launch_seconds);
}

// Whether the matrix and all vectors stay in the L2 cache from one application to the next.
bool stays_in_l2(const PowerCandidate& candidate, const PowersToPredict& powers,
                 const GpuProfile& profile) {
  const double bytes = static_cast<double>(candidate.format_bytes) +
                       powers.row_bytes * powers.rows * (powers.power + 1);
  return bytes <= static_cast<double>(l2_bytes_of(profile)) && profile.l2_bandwidth() > 0;
}

// Copies run at the speed of where the vectors are.
void add_copies(PowerCandidate& candidate, const PowersToPredict& powers, double rate) {
  const double seconds = powers.copy_bytes / rate;
  candidate.predicted_seconds += seconds;
  candidate.predicted_overlapped_seconds += seconds;
}

}  // namespace

void predict_plain(PowerCandidate& candidate, const PowersToPredict& powers,
                   const GpuProfile& profile) {
  const double bytes =
      (static_cast<double>(candidate.format_bytes) + 2 * powers.row_bytes * powers.rows) *
      powers.power;
  const bool in_l2 = stays_in_l2(candidate, powers, profile);
  const double rate = in_l2 ? profile.l2_bandwidth() : profile.memory_bandwidth();
  candidate.memory_bytes = in_l2 ? 0 : bytes;
  candidate.predicted_seconds = bytes / rate;
  candidate.predicted_overlapped_seconds = candidate.predicted_seconds;
  candidate.bound = in_l2 ? Bound::l2 : Bound::memory;
  add_copies(candidate, powers, rate);
}

namespace {

// All sweeps of a candidate. The costs lack what all kinds of sweeps have.
void predict_with(PersistentSweepCosts costs, const PersistentSweepRates& rates,
                  PowerCandidate& candidate, const PowersToPredict& powers,
                  const SweepToPredict& sweep, bool in_l2) {
  costs.matrix_bytes = static_cast<double>(candidate.format_bytes);
  costs.vector_bytes = powers.row_bytes * powers.rows;
  costs.tiles = sweep.tiles;
  costs.workers = sweep.workers;
  costs.held_tiles = sweep.held_tiles;
  costs.dependency_distance = sweep.dependency_distance;
  double bytes = 0;
  for (const int block : blocks_of(powers.power, candidate.block)) {
    costs.power = block;
    const PersistentSweepPrediction prediction = predict_persistent_sweep(costs, rates);
    candidate.predicted_seconds += prediction.seconds;
    candidate.bound = prediction.bound;
    bytes += costs.matrix_bytes + costs.vector_bytes * (block + 1);
  }
  candidate.memory_bytes = in_l2 ? 0 : bytes;
  candidate.predicted_overlapped_seconds = bytes / rates.memory;
  add_copies(candidate, powers, rates.memory);
}

}  // namespace

void predict_sweeps(PowerCandidate& candidate, const PowersToPredict& powers,
                    const SweepToPredict& sweep, const GpuProfile& profile) {
  const bool window_in_l2 = candidate.placement == WindowPlacement::l2;
  const bool in_l2 = stays_in_l2(candidate, powers, profile);
  const double memory = in_l2 ? profile.l2_bandwidth() : profile.memory_bandwidth();
  PersistentSweepCosts costs;
  // A row of x per line that a slice touches, as far as the nearest cache does not have it.
  costs.gather_bytes = powers.row_bytes * std::min(powers.entries, 10 * powers.rows);
  costs.in_l2 = window_in_l2;
  predict_with(costs,
               {memory, profile.l2_bandwidth() * (window_in_l2 ? kL2Share : 1), kLoadSeconds,
                kStepSeconds, profile.handoff_seconds},
               candidate, powers, sweep, in_l2);
}

void predict_flagged(PowerCandidate& candidate, const PowersToPredict& powers,
                     const SweepToPredict& sweep, const GpuProfile& profile) {
  const bool in_l2 = stays_in_l2(candidate, powers, profile);
  const double memory = in_l2 ? profile.l2_bandwidth() : profile.memory_bandwidth();
  PersistentSweepCosts costs;
  costs.gather_bytes = sweep.gather_bytes;
  costs.warps = sweep.warps;
  predict_with(costs, {memory, profile.l2_bandwidth(), kFlaggedLoadSeconds, kFlaggedStepSeconds, 0},
               candidate, powers, sweep, in_l2);
}

void predict_levels(PowerCandidate& candidate, const PowersToPredict& powers,
                    const LevelsToPredict& levels, const GpuProfile& profile) {
  Rates rates;
  rates.memory = profile.memory_bandwidth();
  rates.cache = profile.l2_bandwidth();
  rates.synchronisation_seconds = kernel_overhead(profile, levels.in_graph);
  const auto matrix = static_cast<double>(candidate.format_bytes);
  const bool in_l2 = stays_in_l2(candidate, powers, profile);
  const bool window_stays = candidate.window_bytes <= l2_bytes_of(profile);
  SweepCosts costs;
  for (const int block : blocks_of(powers.power, candidate.block)) {
    const int loads = window_stays ? 1 : block;
    const double once = matrix * loads + powers.row_bytes * powers.rows * (block + 1);
    (in_l2 ? costs.cache_bytes : costs.memory_bytes) += once;
    costs.cache_bytes += matrix * (block - loads);
    costs.synchronisations += static_cast<int>(levels.groups) * block;
  }
  const Prediction prediction = predict_without_overlap(costs, rates);
  candidate.memory_bytes = costs.memory_bytes;
  candidate.predicted_seconds = prediction.seconds;
  candidate.predicted_overlapped_seconds = predict_with_overlap(costs, rates).seconds;
  candidate.bound = prediction.bound == Bound::cache ? Bound::l2 : prediction.bound;
  add_copies(candidate, powers, in_l2 ? rates.cache : rates.memory);
}

Offset l2_bytes_of(const GpuProfile& profile) {
  return profile.l2_bytes() > 0 ? profile.l2_bytes() : profile.device.l2_bytes;
}

}  // namespace strata::gpu::detail
