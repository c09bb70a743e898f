// ProductPlan on a GPU: analyse a matrix once, then compute y = αAx + βy many times on the device.
//
//   Stream stream;
//   auto plan = plan_product(matrix, {}, stream);
//   auto workspace = plan.make_workspace(stream);
//   plan.apply(x, y, workspace, stream);              // y = Ax, in device memory
//   plan.apply(-1.0, x, 1.0, r, workspace, stream);   // r = r − Ax
//   stream.synchronize();
//
//   auto transposed = plan_product(matrix, {.transposed = true}, stream);   // y = Aᵀx
//
// The counterpart of plans/product_plan.hpp, with the properties of power plans on GPUs: apply puts
// its work into the stream and returns, allocates nothing and can be captured into a graph. While
// it chooses, a plan may take 256 MB of device memory where 2.5 times what its most compact form
// needs is less.
#pragma once

#include <memory>
#include <string>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/gpu/workspace.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/strided_vectors.hpp"

namespace strata::gpu {

namespace detail {
template <Value V>
struct Prepared;
}

template <Value V>
class ProductPlan {
 public:
  using Workspace = PlanWorkspace<V>;

  ProductPlan();
  ~ProductPlan();
  ProductPlan(ProductPlan&&) noexcept;
  ProductPlan& operator=(ProductPlan&&) noexcept;

  std::int32_t rows() const;  // of the matrix, also where products are transposed
  std::int32_t cols() const;
  int vectors() const;
  // How many rows the vectors of apply have: columns and rows of the matrix, of its transpose or,
  // in the plan's order, padded ones. Plans reorder square matrices only.
  std::int32_t x_rows() const;
  std::int32_t y_rows() const;

  Workspace make_workspace(Stream& stream) const;

  // y = Ax, and y = αAx + βy; the old y is not read where β is 0. Element v of row r is at
  // r·vectors() + v. x must not overlap y.
  void apply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace, Stream& stream) const;
  void apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Workspace& workspace,
             Stream& stream) const;

  // The same for vectors of rows in the caller's order that are not interleaved, as
  // PowerPlan::apply takes them. The workspace that make_strided_workspace allocates has room for
  // copies of x and y.
  Workspace make_strided_workspace(Stream& stream) const;
  void apply(V alpha, StridedVectors<const V> x, V beta, StridedVectors<V> y, Workspace& workspace,
             Stream& stream) const;

  // Where the plan has the rows; for callers that work in its order.
  const PaddedOrder<std::int32_t>& order() const;
  void to_plan_order(DeviceSpan<const V> of_rows, DeviceSpan<V> padded, Stream& stream) const;
  void to_caller_order(DeviceSpan<const V> padded, DeviceSpan<V> of_rows, Stream& stream) const;

  // New values on the same pattern, as PowerPlan::update_values. Throws what the conversion throws
  // if the format was asked for and refuses the values, as symmetric CSR may; the plan is then as
  // it was.
  template <Index I>
  void update_values(const Csr<V, I>& matrix, Stream& stream);

  Offset bytes() const;  // on the device, without workspaces
  // What was decided and how, as data and in prose.
  const PlanRecord& record() const;
  const PowerCandidate& choice() const { return record().choice(); }
  std::string explain() const;

 private:
  const detail::Prepared<V>& prepared() const;

  template <Value W, Index J>
  friend ProductPlan<W> plan_product(const Csr<W, J>& matrix, const ProductOptions& options,
                                     Stream& stream);

  std::unique_ptr<detail::Prepared<V>> prepared_;
};

// Throws InvalidArgument for options that make no sense; Unavailable without a device and for
// kernels that GPUs do not have; DeviceOutOfMemory if the matrix does not fit; and what a
// conversion throws if the format that is asked for refuses the matrix.
template <Value V, Index I>
ProductPlan<V> plan_product(const Csr<V, I>& matrix, const ProductOptions& options, Stream& stream);

}  // namespace strata::gpu
