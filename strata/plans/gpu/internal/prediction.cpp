#include "strata/plans/gpu/internal/prediction.hpp"

#include <algorithm>
#include <string>

#include "strata/model/power_model.hpp"
#include "strata/model/wave_model.hpp"

namespace strata::gpu::detail {

namespace {

// How long a tile waits, fitted to 7- and 27-point stencils on an H200 (model/wave_model.hpp).
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
double kernel_overhead(const GpuFacts& facts, bool in_graph) {
  return std::max(facts.ramp_up.overhead_seconds,
                  in_graph ? facts.graph_node_seconds : facts.launch_seconds);
}

}  // namespace

void predict_plain(PowerCandidate& candidate, const PowersToPredict& powers, double rows,
                   const GpuFacts& facts) {
  candidate.memory_bytes =
      (static_cast<double>(candidate.format_bytes) + 2 * powers.row_bytes * rows) * powers.power;
  candidate.predicted_seconds = candidate.memory_bytes / facts.memory_bandwidth();
  candidate.predicted_overlapped_seconds = candidate.predicted_seconds;
  candidate.bound = std::string("dram");
}

void predict_waves(PowerCandidate& candidate, const PowersToPredict& powers,
                   const WaveToPredict& wave, const GpuFacts& facts) {
  const double l2 = facts.l2_bandwidth() * (wave.home == WindowHome::l2 ? kL2Share : 1);
  const WaveRates rates{facts.memory_bandwidth(), l2, kLoadSeconds, kStepSeconds,
                        facts.handoff_seconds};
  WaveCosts costs;
  costs.matrix_bytes = static_cast<double>(candidate.format_bytes);
  costs.vector_bytes = powers.row_bytes * wave.rows;
  // A row of x per line that a slice touches, as far as the nearest cache does not have it.
  costs.gather_bytes = powers.row_bytes * std::min(powers.entries, 10 * wave.rows);
  costs.in_l2 = wave.home == WindowHome::l2;
  costs.tiles = wave.tiles;
  costs.workers = wave.workers;
  costs.held_tiles = wave.held_tiles;
  costs.reach = wave.reach;
  for_each_block(powers.power, candidate.block, [&](int block) {
    costs.power = block;
    const WavePrediction prediction = predict_wave(costs, rates);
    candidate.predicted_seconds += prediction.seconds;
    candidate.bound = prediction.bound;
    candidate.memory_bytes += costs.matrix_bytes + costs.vector_bytes * (block + 1);
  });
  candidate.predicted_overlapped_seconds = candidate.memory_bytes / rates.memory;
}

void predict_levels(PowerCandidate& candidate, const PowersToPredict& powers,
                    const LevelsToPredict& levels, const GpuFacts& facts) {
  Rates rates;
  rates.memory = facts.memory_bandwidth();
  rates.cache = facts.l2_bandwidth();
  rates.synchronisation_seconds = kernel_overhead(facts, levels.in_graph);
  const auto matrix = static_cast<double>(candidate.format_bytes);
  const bool stays = candidate.window_bytes <= l2_bytes_of(facts);
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

Offset l2_bytes_of(const GpuFacts& facts) {
  return facts.l2_bytes() > 0 ? facts.l2_bytes() : facts.device.l2_bytes;
}

}  // namespace strata::gpu::detail
