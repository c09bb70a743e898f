// The decisions behind plan_powers on a GPU: which order, format, strategy, window and block.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/base/identity.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/plans/gpu/internal/methods.hpp"
#include "strata/plans/gpu/internal/proposals.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::gpu::detail {

// Everything that apply needs.
template <Value V>
struct PreparedPowers {
  GpuPowerOptions options;
  std::vector<StepCoefficients<V>> coefficients;  // of y_1 … y_p
  std::shared_ptr<const Rows> rows;
  StorageChoice storage;
  Method<V> method;
  Identity identity = Identity::fresh();
  Fingerprint pattern;  // of the caller's matrix

  // What explain() tells.
  std::vector<PowerCandidate> candidates;  // the choice first
  std::string device;                      // that runs it
  GpuProfile profile;
  std::vector<std::string> remarks;  // about the facts, and what did not fit
  Offset nnz = 0;
  Offset levels = 0;
  Offset largest_level_rows = 0;
  double setup_seconds = 0;
  double plain_seconds = 0;  // of p plain products in the given order

  const PersistentSweep<V>* sweep() const { return std::get_if<PersistentSweep<V>>(&method); }
  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || rows->order.is_identity();
  }
};

template <Value V>
PreparedPowers<V> prepare_powers(const Csr<V, std::int32_t>& matrix, const GpuPowerOptions& options,
                                 Stream& stream);

}  // namespace strata::gpu::detail
