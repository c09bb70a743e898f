// The ways to compute the powers of a matrix on a GPU that are worth considering, each with a
// prediction: orders of rows, formats, strategies, windows and blocks.
#pragma once

#include <memory>
#include <string>
#include <variant>
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
  std::variant<std::shared_ptr<StoredForm<V>>, std::shared_ptr<TiledForm<V>>> form;
  SweepShape shape;               // of waves
  std::shared_ptr<LevelCut> cut;  // of levels

  bool plain() const { return candidate.strategy == PowerStrategy::spmv; }
  // Proposals of one form run on the same matrix on the device.
  const void* form_address() const;
  Offset device_bytes() const;
};

template <Value V>
struct Proposals {
  std::vector<Proposal<V>> proposals;  // plain products in the given order among them
  Offset levels = 0;                   // 0 where none were looked for
  Offset largest_level_rows = 0;
  std::shared_ptr<const Csr<V, std::int32_t>> in_levels;  // the matrix that cuts refer to
  std::vector<std::string> remarks;                       // what was not considered, and why
};

// The matrix must outlive the proposals. Predictions are by the facts, which may be those of
// another device; what runs is made for the current one.
template <Value V>
Proposals<V> find_proposals(const Csr<V, std::int32_t>& matrix, const GpuPowerOptions& options,
                            const GpuProfile& profile, Stream& stream);

// Uploads the form, unless somebody holds it, and makes the method ready to run. Throws
// DeviceOutOfMemory.
template <Value V>
Method<V> make_method(const Proposal<V>& proposal, const GpuPowerOptions& options, Stream& stream);

}  // namespace strata::gpu::detail
