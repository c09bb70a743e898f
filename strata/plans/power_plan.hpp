// PowerPlan: analyse a matrix once, then compute [y_1, …, y_p] of many vectors with it, reading the
// matrix from memory once instead of p times where that pays.
//
//   auto plan = plan_powers(matrix, {.power = 6});
//   auto workspace = plan.make_workspace();
//   plan.apply(x, powers, workspace);   // powers holds y_1, …, y_6, one after another
//   std::puts(plan.explain().c_str());
//
// A plan is a value: it can be moved and kept, and its workspaces stay good. What was moved from or
// made without plan_powers is empty: all of its functions throw InvalidArgument until a plan is
// assigned to it. apply is const and may run from several threads at once, each with a workspace of
// its own; it allocates nothing. Results of one plan are the same
// from run to run, bit by bit; those of two plans are if both chose the same format and order of
// the rows, whatever their strategy and number of threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/strided_vectors.hpp"
#include "strata/plans/workspace.hpp"
#include "strata/schedule/task_trace.hpp"

namespace strata {

namespace detail {
template <Value V, Index I>
struct Prepared;
template <Value V>
struct PowerSum;
struct ProductRequest;
}  // namespace detail

template <Value V, Index I>
class PowerPlan;
namespace detail {
// plan_powers, with what is asked of plain products.
template <Value V, Index I>
PowerPlan<V, I> plan_powers_with(const Csr<V, I>& matrix, const PowerOptions& options,
                                 const ProductRequest& request);
}  // namespace detail

template <Value V, Index I>
class PowerPlan {
 public:
  using Workspace = PlanWorkspace<V>;

  PowerPlan();
  ~PowerPlan();
  PowerPlan(PowerPlan&&) noexcept;
  PowerPlan& operator=(PowerPlan&&) noexcept;

  I rows() const;         // of the matrix
  I padded_rows() const;  // of a vector in the plan's order; at least rows()
  int power() const;
  int vectors() const;
  // How many rows the vectors of apply have: rows(), or positions() in the plan's order.
  I vector_rows() const;

  // For apply, and for apply_last and apply_sum, which need less. All of them throw InvalidArgument
  // when they are given a workspace of another plan, of equal size or not, or one that is too small
  // for them.
  Workspace make_workspace() const;
  Workspace make_workspace_for_last() const;
  Workspace make_workspace_for_sum() const;

  // powers = [y_1, …, y_p], each of vector_rows() × vectors() elements. x must not overlap them.
  void apply(std::span<const V> x, std::span<V> powers, Workspace& workspace) const;
  // The first `count` of them alone, 1 … p: for methods that find that p were too many.
  void apply_first(int count, std::span<const V> x, std::span<V> powers,
                   Workspace& workspace) const;
  // The same by steps of another recurrence than the basis's, at most power() of them: for powers
  // that go on where earlier ones ended. `before` is y_−1, of as many elements as x; it may be
  // empty if the first step does not read it.
  void apply_steps(std::span<const cpu::StepCoefficients<V>> steps, std::span<const V> before,
                   std::span<const V> x, std::span<V> powers, Workspace& workspace) const;
  // last = y_p alone, with two vectors in all however large p is: power k overwrites power k − 2,
  // whose readers are among the inputs of k.
  void apply_last(std::span<const V> x, std::span<V> last, Workspace& workspace) const;

  // sum = c_0 x + c_1 y_1 + … + c_p y_p, of power() + 1 coefficients: what filters and functions of
  // the matrix need. Every power is added while it is still in a cache, and no more than two of
  // them are kept. x must not overlap the sum.
  void apply_sum(std::span<const V> x, std::span<const V> coefficients, std::span<V> sum,
                 Workspace& workspace) const;
  // y = Ax with the matrix as the plan has it, whatever the basis, and with any workspace of the
  // plan.
  void multiply(std::span<const V> x, std::span<V> y, Workspace& workspace) const;

  // apply, and what its threads did when. Tiles follow one another as the plan has the rows; plain
  // products are one tile. Reading clocks and keeping times makes it slower than apply, and it
  // allocates.
  TaskTrace trace(std::span<const V> x, std::span<V> powers, Workspace& workspace) const;

  // apply for vectors of rows in the caller's order that are not interleaved, with a workspace that
  // has room for copies of them; y_k begins at powers.data + (k − 1)·power_stride. They must not
  // share elements.
  Workspace make_strided_workspace() const;
  void apply(StridedVectors<const V> x, StridedVectors<V> powers, Offset power_stride,
             Workspace& workspace) const;

  // Where the plan has the rows; for callers that work in its order.
  const PaddedOrder<I>& order() const;
  void to_plan_order(std::span<const V> of_rows, std::span<V> padded) const;
  void to_caller_order(std::span<const V> padded, std::span<V> of_rows) const;

  // New values on the pattern that the plan was made for: order, format, schedule and predictions
  // stay, only values are replaced. Throws InvalidArgument if the pattern is another; whatever is
  // thrown, the plan is then as it was. The pattern is read once to tell, and a plan that reorders
  // rows needs memory for the matrix in its order meanwhile. Encoded values are encoded again, in
  // as many bytes as the new ones need, which explain then says; PowerOptions::values = full keeps
  // them as they are. Not while apply runs.
  void update_values(const Csr<V, I>& matrix);

  // Other vectors from now on. Throws InvalidArgument, as planning does, where the basis does not
  // have power() vectors in this arithmetic. Not while apply runs.
  void set_basis(const Basis& basis);

  int threads() const;
  // What was decided and how, as data; its candidates, the choice first; and in prose.
  const PlanRecord& record() const;
  const PowerCandidate& choice() const { return record().choice(); }
  const std::vector<PowerCandidate>& candidates() const { return record().candidates; }
  Offset levels() const { return record().levels; }
  double setup_seconds() const { return record().setup_seconds; }
  double break_even() const { return record().break_even(); }
  std::string explain() const;

 private:
  const detail::Prepared<V, I>& prepared() const;
  Workspace workspace_with(int vectors) const;
  void apply(std::span<const cpu::StepCoefficients<V>> steps, std::span<const V> before,
             std::span<const V> x, std::span<V> powers, Workspace& workspace,
             std::vector<TracedTask>* traced) const;
  // y_0 and where the powers alternate, so that the last one is in `last`.
  void run_alternating(V* x, V* last, V* other, detail::WorkspaceState<V>& state,
                       const detail::PowerSum<V>& sum) const;

  template <Value W, Index J>
  friend PowerPlan<W, J> detail::plan_powers_with(const Csr<W, J>& matrix,
                                                  const PowerOptions& options,
                                                  const detail::ProductRequest& request);

  std::unique_ptr<detail::Prepared<V, I>> prepared_;
};

// Throws InvalidArgument for matrices that are not square, powers below 1, and options that do not
// go together; Unavailable for the strategies and formats that GPUs alone have.
template <Value V, Index I>
PowerPlan<V, I> plan_powers(const Csr<V, I>& matrix, const PowerOptions& options = {});

// The first power and element, if any, that is not finite in powers as apply leaves them: high
// powers of a matrix with large eigenvalues overflow.
struct Overflow {
  int power = 0;
  Offset element = 0;
};
template <Value V>
std::optional<Overflow> find_overflow(std::span<const V> powers, int power);

}  // namespace strata
