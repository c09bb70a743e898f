// Prepared: what plans for GPUs are made of. A product plan is one whose method is the matrix
// itself; plain powers are the same method, run p times.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/identity.hpp"
#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/kernels/gpu/device_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/gpu/internal/methods.hpp"
#include "strata/plans/internal/product_request.hpp"

namespace strata::gpu::detail {

// Rows in some order.
struct Rows {
  RowOrder kind;
  PaddedOrder<std::int32_t> order;
  DeviceOrder on_device;
};

// Everything that apply and explain need.
template <Value V>
struct Prepared {
  PowerOptions options;
  std::vector<StepCoefficients<V>> coefficients;  // of y_1 … y_p
  std::shared_ptr<const Rows> rows;
  std::int32_t cols = 0;           // of the matrix that is planned for
  bool transposed = false;         // that is the transpose of the caller's
  bool asked_for_product = false;  // the caller's choice, or the plan's own
  StoredFormat stored;
  Method<V> method;
  Identity identity = Identity::fresh();
  Fingerprint pattern;  // of the matrix that is planned for
  std::string device;   // that runs it
  GpuProfile profile;
  Offset nnz = 0;
  PlanRecord record;

  // Throws InvalidArgument unless the basis has so many vectors.
  void set_basis(const Basis& basis) {
    basis.require_steps<V>(options.power);
    std::vector<StepCoefficients<V>> steps;
    for (int k = 1; k <= options.power; ++k) steps.push_back(basis.step<V>(k));
    coefficients = std::move(steps);
    options.basis = basis;
  }

  bool direct() const {  // vectors are used where they are
    return options.vector_order == VectorOrder::plan || rows->order.is_identity();
  }
  void remark(std::string text) { record.remarks.push_back(std::move(text)); }
  Offset bytes() const { return bytes_of<V>(method) + rows->on_device.bytes(); }

  // New values on the same pattern, all or nothing.
  template <Index I>
  void assign_values(const Csr<V, I>& matrix, Stream& stream);
  void assign_product(const Csr<V, std::int32_t>& matrix, Stream& stream);

  // What was decided about a task, "The product", and why.
  std::string explain(const std::string& task) const;
};

// The decisions behind plan_product and plan_powers on a GPU. Throws OverflowError if the matrix
// needs more than 31 bits for its rows.
template <Value V, Index I>
std::unique_ptr<Prepared<V>> prepare(const Csr<V, I>& matrix, const PowerOptions& options,
                                     Stream& stream,
                                     const strata::detail::ProductRequest& request = {});

}  // namespace strata::gpu::detail
