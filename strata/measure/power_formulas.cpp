#include "strata/measure/power_formulas.hpp"

#include "strata/model/balance.hpp"
#include "strata/model/power_model.hpp"

namespace strata {

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
                              .write_allocate = write_allocate};
  return static_cast<double>(format_bytes) + traffic.bytes();
}

Offset PowerWork::minimum_bytes() const {
  return value_bytes * (entries + rows * vectors * (power + 1));
}

std::optional<PowerFormulas> formulas_of(const gpu::GpuProfile& profile,
                                         const PowerCandidate& candidate, const PowerWork& work) {
  if (work.entries == 0) return std::nullopt;
  PowerFormulas formulas;
  if (work.vectors == 1) {
    const double per_row = static_cast<double>(work.entries) / static_cast<double>(work.rows);
    const double balance =
        sell_balance(kSliceHeight, per_row, {static_cast<double>(work.value_bytes), kIndexBytes});
    // The formula counts 2 flops per entry.
    formulas.sell = profile.memory_bandwidth() / balance * work.flops_per_entry / 2;
  }
  const double bytes = work.product_bytes(candidate.format_bytes);
  const double flops_per_byte = work.flops() / work.power / bytes;
  formulas.blocked =
      blocked_performance(candidate.block, flops_per_byte * profile.memory_bandwidth(),
                          flops_per_byte * profile.l2_bandwidth());
  const double piece = kernel_bytes(candidate, bytes);
  if (piece > 0) {
    const Rates rates =
        with_latency(Rates{.memory = profile.hockney.bytes_per_second,
                           .cache = profile.l2_bandwidth(),
                           .synchronisation_seconds = profile.hockney.overhead_seconds},
                     piece);
    formulas.with_latency = blocked_performance(candidate.block, flops_per_byte * rates.memory,
                                                flops_per_byte * rates.cache);
  }
  return formulas;
}

}  // namespace strata
