// The ways to compute the powers of a matrix on a GPU that are worth considering, each with a
// prediction: orders of rows, formats, strategies, windows and blocks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/kernels/gpu/device_order.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/gpu/internal/level_cut.hpp"
#include "strata/plans/gpu/internal/methods.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::gpu::detail {

// Rows in some order.
struct Rows {
  std::string name;  // "given", or how the levels were laid out
  PaddedOrder<std::int32_t> order;
  DeviceOrder on_device;
};

constexpr bool is_by_levels(PowerStrategy strategy) {
  return strategy == PowerStrategy::levels || strategy == PowerStrategy::graph;
}

template <Value V>
struct Proposal {
  PowerCandidate candidate;
  std::shared_ptr<const Rows> rows;
  StorageChoice storage;
  Method<V> method;               // of levels the matrix alone, until they are completed
  std::shared_ptr<LevelCut> cut;  // of levels

  bool plain() const { return candidate.strategy == PowerStrategy::spmv; }
};

template <Value V>
struct Proposals {
  std::vector<Proposal<V>> proposals;  // plain products in the given order among them
  Offset levels = 0;                   // 0 where none were looked for
  Offset largest_level_rows = 0;
  std::shared_ptr<const Csr<V, std::int32_t>> in_levels;  // the matrix that cuts refer to
};

// The matrix must outlive the proposals.
template <Value V>
Proposals<V> find_proposals(const Csr<V, std::int32_t>& matrix, const GpuPowerOptions& options,
                            const GpuFacts& facts, Stream& stream);

// Makes the method ready to run.
template <Value V>
void complete(Proposal<V>& proposal, const GpuPowerOptions& options);

}  // namespace strata::gpu::detail
