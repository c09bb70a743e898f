// What published formulas let expect of powers on a GPU, beside what a plan predicts and what was
// measured.
#pragma once

#include <optional>

#include "strata/machine/gpu/profile.hpp"
#include "strata/plans/candidate.hpp"

namespace strata {

// What one application computes.
struct PowerWork {
  Offset rows = 0;
  Offset entries = 0;
  Offset value_bytes = 8;
  double flops_per_entry = 2;
  int vectors = 1;
  int power = 1;
  bool write_allocate = true;  // see VectorTraffic

  double flops() const;
  // That one of the products reads and writes, wherever it finds them.
  double product_bytes(Offset format_bytes) const;
  // Every value as it is, x and every power once.
  Offset minimum_bytes() const;
};

// Flops per second. M. Panzlaff: Matrix Power Kernels on GPUs, Erlangen 2024.
struct PowerFormulas {
  // 4.5: plain products in SELL-32, x and y once, from memory. 0 for several vectors, which the
  // formula does not have.
  double sell = 0;
  // 4.8: the first product of a sweep from memory, the others from the L2, one after the other.
  double blocked = 0;
  // The same with the bandwidths of 4.12, for kernels as the strategy launches them: a product, a
  // sweep, or a group of levels, of which a window has one more than powers.
  double with_latency = 0;
};

// None for a matrix without entries.
std::optional<PowerFormulas> formulas_of(const gpu::GpuProfile& profile,
                                         const PowerCandidate& candidate, const PowerWork& work);

}  // namespace strata
