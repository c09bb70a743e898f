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
#include "strata/plans/power_options.hpp"

namespace strata {

// One way to compute the powers that a plan has considered. Seconds and bytes are per application,
// all p powers together.
struct PowerCandidate {
  PowerStrategy strategy = PowerStrategy::spmv;
  std::string order;        // of the rows: "given", or how the levels were laid out
  std::string format;       // "packed-sell C=32"
  int block = 1;            // powers per sweep
  int bands = 1;            // sweeps that share the levels
  int slack = 0;            // groups of rows between a power and its inputs
  Offset window_bytes = 0;  // what a cache has to hold so that the matrix is read once per sweep
  Offset format_bytes = 0;  // the matrix in this format
  double memory_bytes = 0;  // predicted traffic
  double predicted_seconds = 0;             // without overlap of memory and cache (thesis 4.8)
  double predicted_overlapped_seconds = 0;  // with perfect overlap: a lower bound
  std::string bound;                        // what takes the most time: dram, cache or sync
  double measured_seconds = 0;              // 0 where it was not timed

  double seconds() const { return measured_seconds > 0 ? measured_seconds : predicted_seconds; }
};

namespace detail {
template <Value V, Index I>
struct PreparedPowers;
}

template <Value V, Index I>
class PowerPlan {
 public:
  // Memory for one application at a time, for the plan that made it and no other. One that was
  // moved from, or that no plan made, is empty: it has no bytes and fits no plan.
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

  I rows() const;         // of the matrix
  I padded_rows() const;  // of a vector in the plan's order; at least rows()
  int power() const;
  int vectors() const;
  // How many rows the vectors of apply have: rows(), or positions() in the plan's order.
  I vector_rows() const;

  // For apply, and for apply_last, which needs less. Both throw InvalidArgument when they are given
  // a workspace of another plan, of equal size or not, or one that is too small for them.
  Workspace make_workspace() const;
  Workspace make_workspace_for_last() const;

  // powers = [y_1, …, y_p], each of vector_rows() × vectors() elements. x must not overlap them.
  void apply(std::span<const V> x, std::span<V> powers, Workspace& workspace) const;
  // last = y_p alone, with two vectors in all however large p is: power k overwrites power k − 2,
  // whose readers are among the inputs of k.
  void apply_last(std::span<const V> x, std::span<V> last, Workspace& workspace) const;

  // For callers that work in the plan's order.
  void to_plan_order(std::span<const V> of_rows, std::span<V> padded) const;
  void to_caller_order(std::span<const V> padded, std::span<V> of_rows) const;

  // New values on the pattern that the plan was made for: order, format, schedule and predictions
  // stay, only values are replaced. Throws InvalidArgument if the pattern is another; whatever is
  // thrown, the plan is then as it was. The pattern is read once to tell, and a plan that reorders
  // rows needs memory for the matrix in its order meanwhile. Not while apply runs.
  void update_values(const Csr<V, I>& matrix);

  const PowerCandidate& choice() const;
  // All that was considered, the choice first.
  const std::vector<PowerCandidate>& candidates() const;
  Offset levels() const;  // 0 where none were looked for
  int threads() const;
  double setup_seconds() const;
  // How many applications it takes until the set-up has paid off against plain products in the
  // given order; 0 where it never does.
  double break_even() const;
  // What was chosen, what was rejected, and why, in prose and numbers.
  std::string explain() const;

 private:
  const detail::PreparedPowers<V, I>& prepared() const;
  Workspace workspace_with(int vectors) const;
  typename Workspace::State& state_of(Workspace& workspace, int vectors) const;
  std::string reason() const;

  template <Value W, Index J>
  friend PowerPlan<W, J> plan_powers(const Csr<W, J>& matrix, const PowerOptions& options);

  std::unique_ptr<detail::PreparedPowers<V, I>> prepared_;
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
