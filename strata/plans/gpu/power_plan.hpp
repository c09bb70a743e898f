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
// time than 2.5 times what the most compact one and the vectors need; what does not fit is left
// out, with a remark in explain().
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
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/plans/power_options.hpp"
#include "strata/plans/power_plan.hpp"

namespace strata::gpu {

struct GpuPowerOptions {
  int power = 4;                    // p: y_1 … y_p
  Basis basis = Basis::monomial();  // which vectors these are
  int vectors = 1;                  // right-hand sides side by side, 1 … 8
  VectorOrder vector_order = VectorOrder::caller;
  PowerStrategy strategy = PowerStrategy::automatic;
  PowerFormat format = PowerFormat::automatic;
  Offset slice_height = 0;  // C of the sliced formats; 0: chosen
  int block = 0;            // powers per sweep; 0: chosen
  // The cache for the window of levels and graphs, whose groups take up half of it: the vectors are
  // there as well. 0: the L2 cache.
  Offset cache_bytes = 0;
  bool autotune = true;  // time the favourites for a few products and keep the fastest
  const GpuProfile* profile = nullptr;  // to predict with; none: those of the current device
};

namespace detail {
template <Value V>
struct PreparedPowers;
}

template <Value V>
class PowerPlan {
 public:
  // Device memory for one application at a time.
  class Workspace {
   public:
    Workspace();
    ~Workspace();
    Workspace(Workspace&&) noexcept;
    Workspace& operator=(Workspace&&) noexcept;
    Offset bytes() const;

   private:
    friend class PowerPlan;
    struct State;
    std::unique_ptr<State> state_;
  };

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

  // powers = [y_1, …, y_p], each of vector_rows() × vectors() elements. x must not overlap them.
  void apply(DeviceSpan<const V> x, DeviceSpan<V> powers, Workspace& workspace,
             Stream& stream) const;
  // last = y_p alone, with two vectors in all however large p is.
  void apply_last(DeviceSpan<const V> x, DeviceSpan<V> last, Workspace& workspace,
                  Stream& stream) const;

  // After the stream was synchronised: throws DeviceError if an application did not end well.
  void require_ended(Workspace& workspace, Stream& stream) const;

  // For callers that work in the plan's order.
  void to_plan_order(DeviceSpan<const V> of_rows, DeviceSpan<V> padded, Stream& stream) const;
  void to_caller_order(DeviceSpan<const V> padded, DeviceSpan<V> of_rows, Stream& stream) const;

  // New values on the same pattern; another one throws InvalidArgument. Order, format and method
  // stay, and so do workspaces. The matrix is converted and uploaded again, for waves also cut into
  // tiles and dealt out again; until that is done the device holds the old one, too, and if it
  // fails, the plan is as it was. Waits for the stream; nothing else may run the plan meanwhile.
  template <Index I>
  void update_values(const Csr<V, I>& matrix, Stream& stream);

  const PowerCandidate& choice() const;
  const std::vector<PowerCandidate>& candidates() const;  // the choice first
  Offset levels() const;                                  // 0 where none were looked for
  Offset bytes() const;                                   // on the device, without workspaces
  double setup_seconds() const;
  double break_even() const;  // applications until the set-up has paid off; 0 where it never does
  std::string explain() const;

 private:
  // Throws InvalidArgument if there is none.
  const detail::PreparedPowers<V>& prepared() const;
  Workspace workspace_with(int vectors, Stream& stream) const;
  typename Workspace::State& state_of(Workspace& workspace, int vectors) const;

  template <Value W, Index J>
  friend PowerPlan<W> plan_powers(const Csr<W, J>& matrix, const GpuPowerOptions& options,
                                  Stream& stream);

  std::unique_ptr<detail::PreparedPowers<V>> prepared_;
};

// Throws InvalidArgument for matrices that are not square, powers below 1, and options that do not
// go together; Unavailable without a device; DeviceOutOfMemory if the matrix does not fit.
template <Value V, Index I>
PowerPlan<V> plan_powers(const Csr<V, I>& matrix, const GpuPowerOptions& options, Stream& stream);

}  // namespace strata::gpu
