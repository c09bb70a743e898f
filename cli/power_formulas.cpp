#include "cli/power_formulas.hpp"

#include "strata/model/balance.hpp"
#include "strata/model/power_model.hpp"

namespace strata::cli {

namespace {

constexpr double kSliceHeight = 32;
constexpr double kIndexBytes = 4;

double kernel_bytes(const PowerCandidate& candidate, double product_bytes) {
  switch (candidate.strategy) {
    case PowerStrategy::spmv: return product_bytes;
    case PowerStrategy::wavefront: return product_bytes * candidate.block;
    default: return static_cast<double>(candidate.window_bytes) / (candidate.block + 1);
  }
}

}  // namespace

double PowerWork::flops() const {
  return flops_per_entry * static_cast<double>(entries) * vectors * power;
}

double PowerWork::product_bytes(Offset format_bytes) const {
  const VectorTraffic traffic{.rows = rows,
                              .cols = rows,
                              .value_bytes = static_cast<double>(value_bytes) * vectors,
                              .stores_load = stores_load};
  return static_cast<double>(format_bytes) + traffic.bytes();
}

std::optional<PowerFormulas> formulas_of(const gpu::GpuFacts& facts,
                                         const PowerCandidate& candidate, const PowerWork& work) {
  if (work.entries == 0) return std::nullopt;
  PowerFormulas formulas;
  if (work.vectors == 1) {
    const double per_row = static_cast<double>(work.entries) / static_cast<double>(work.rows);
    const double balance =
        sell_balance(kSliceHeight, per_row, {static_cast<double>(work.value_bytes), kIndexBytes});
    // The formula counts 2 flops per entry.
    formulas.sell = facts.memory_bandwidth() / balance * work.flops_per_entry / 2;
  }
  const double bytes = work.product_bytes(candidate.format_bytes);
  const double flops_per_byte = work.flops() / work.power / bytes;
  formulas.blocked = blocked_performance(candidate.block, flops_per_byte * facts.memory_bandwidth(),
                                         flops_per_byte * facts.l2_bandwidth());
  const double piece = kernel_bytes(candidate, bytes);
  if (piece > 0) {
    const Rates rates = ramped_up(Rates{.memory = facts.ramp_up.bytes_per_second,
                                        .cache = facts.l2_bandwidth(),
                                        .synchronisation_seconds = facts.ramp_up.overhead_seconds},
                                  piece);
    formulas.ramped_up = blocked_performance(candidate.block, flops_per_byte * rates.memory,
                                             flops_per_byte * rates.cache);
  }
  return formulas;
}

}  // namespace strata::cli
