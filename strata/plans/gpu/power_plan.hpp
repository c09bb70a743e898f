// PowerPlan on a GPU: analyse a matrix once, then compute [y_1, …, y_p] of many vectors with it,
// all on the device, reading the matrix from its memory once instead of p times where that pays.
//
//   Stream stream;
//   auto plan = plan_powers(matrix, {.power = 6}, stream);
//   auto workspace = plan.make_workspace(stream);
//   plan.apply(x, powers, workspace, stream);   // x and powers in device memory
//   stream.synchronize();
//   plan.require_ended(workspace, stream);
//
// While it chooses, a plan tries several forms of the matrix on the device, but never more at a
// time than 2.5 times what the most compact one of full values and the vectors need; what does not
// fit is left out, with a remark in explain().
//
// Several streams may run one plan at a time, each with a workspace of its own. A plan or workspace
// that was moved from or never made throws InvalidArgument, and so does a plan that is given the
// workspace of another.
//
// The counterpart of plans/power_plan.hpp, with the same bases, orders and candidates. apply puts
// its work into the stream and returns; it allocates no device memory and can be captured into a
// graph. Results of one plan are the same from run to run, bit by bit.
//
// A plan with the strategy `graph` records its kernels when a workspace is first used, and again
// when it is used with vectors at other addresses: keep a workspace for each set of vectors.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

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
class PowerPlan {
 public:
  using Workspace = PlanWorkspace<V>;

  PowerPlan();
  ~PowerPlan();
  PowerPlan(PowerPlan&&) noexcept;
  PowerPlan& operator=(PowerPlan&&) noexcept;

  std::int32_t rows() const;
  std::int32_t padded_rows() const;  // of a vector in the plan's order; at least rows()
  int power() const;
  int vectors() const;
  // How many rows the vectors of apply have: rows(), or positions() in the plan's order.
  std::int32_t vector_rows() const;

  Workspace make_workspace(Stream& stream) const;
  Workspace make_workspace_for_last(Stream& stream) const;
  Workspace make_workspace_for_sum(Stream& stream) const;

  // powers = [y_1, …, y_p], each of vector_rows() × vectors() elements. x must not overlap them.
  void apply(DeviceSpan<const V> x, DeviceSpan<V> powers, Workspace& workspace,
             Stream& stream) const;
  // last = y_p alone, with two vectors in all however large p is.
  void apply_last(DeviceSpan<const V> x, DeviceSpan<V> last, Workspace& workspace,
                  Stream& stream) const;

  // The first `count` of the powers alone, 1 … p: for methods that find that p were too many.
  void apply_first(int count, DeviceSpan<const V> x, DeviceSpan<V> powers, Workspace& workspace,
                   Stream& stream) const;
  // sum = c_0 x + c_1 y_1 + … + c_p y_p, of power() + 1 coefficients: what filters and functions of
  // the matrix need. Kernels of wavefront sweeps add them up themselves and keep two; others keep
  // six at most. x must not overlap the sum.
  void apply_sum(DeviceSpan<const V> x, std::span<const V> coefficients, DeviceSpan<V> sum,
                 Workspace& workspace, Stream& stream) const;
  // y = Ax with the matrix as the plan has it, whatever the basis, and with any workspace of the
  // plan that make_workspace or make_workspace_for_sum has made.
  void multiply(DeviceSpan<const V> x, DeviceSpan<V> y, Workspace& workspace, Stream& stream) const;

  // apply for vectors of rows in the caller's order that are not interleaved; y_k begins at
  // powers.data + (k − 1)·power_stride. Pointers are to device memory, complex elements aligned to
  // their size; vectors must not share elements. Kernels copy in and out, in the pass that changes
  // the order of the rows. Their copies are in the workspace, which make_strided_workspace
  // allocates: power() + 1 vectors of padded_rows() rows.
  //
  //   auto strided = plan.make_strided_workspace(stream);
  //   plan.apply({x, 1, ld}, {y, 1, ld}, ld * plan.vectors(), strided, stream);   // columns
  Workspace make_strided_workspace(Stream& stream) const;
  void apply(StridedVectors<const V> x, StridedVectors<V> powers, Offset power_stride,
             Workspace& workspace, Stream& stream) const;

  // After the stream was synchronised: throws DeviceError if an application did not end well.
  void require_ended(Workspace& workspace, Stream& stream) const;

  // Where the plan has the rows; for callers that work in its order.
  const PaddedOrder<std::int32_t>& order() const;
  void to_plan_order(DeviceSpan<const V> of_rows, DeviceSpan<V> padded, Stream& stream) const;
  void to_caller_order(DeviceSpan<const V> padded, DeviceSpan<V> of_rows, Stream& stream) const;

  // New values on the same pattern; another one throws InvalidArgument. Order, format and method
  // stay, and so do workspaces; but values that repeat less than the old ones may leave a wavefront
  // sweep no room for its window: then products are plain from there on, and explain() says so. The
  // matrix is converted and uploaded again, for sweeps also cut into tiles and dealt out again;
  // until that is done the device holds the old one, too, and if it fails, the plan is as it was.
  // Waits for the stream; nothing else may run the plan meanwhile.
  template <Index I>
  void update_values(const Csr<V, I>& matrix, Stream& stream);

  // Other vectors from now on. Throws InvalidArgument, as planning does, where the basis does not
  // have power() vectors in this arithmetic. Work that is already in a stream has the old ones.
  void set_basis(const Basis& basis);

  Offset bytes() const;  // on the device, without workspaces
  // What was decided and how, as data; its candidates, the choice first; and in prose.
  const PlanRecord& record() const;
  const PowerCandidate& choice() const { return record().choice(); }
  const std::vector<PowerCandidate>& candidates() const { return record().candidates; }
  Offset levels() const { return record().levels; }
  double setup_seconds() const { return record().setup_seconds; }
  double break_even() const { return record().break_even(); }
  std::string explain() const;

 private:
  // Throws InvalidArgument if there is none.
  const detail::Prepared<V>& prepared() const;

  template <Value W, Index J>
  friend PowerPlan<W> plan_powers(const Csr<W, J>& matrix, const PowerOptions& options,
                                  Stream& stream);

  std::unique_ptr<detail::Prepared<V>> prepared_;
};

// Throws InvalidArgument for matrices that are not square, powers below 1, and options that do not
// go together; Unavailable without a device; DeviceOutOfMemory if the matrix does not fit.
template <Value V, Index I>
PowerPlan<V> plan_powers(const Csr<V, I>& matrix, const PowerOptions& options, Stream& stream);

}  // namespace strata::gpu
