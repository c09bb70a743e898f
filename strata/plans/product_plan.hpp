// ProductPlan: analyse a matrix once, then compute y = αAx + βy many times on all threads, in the
// format and with the kernel that suit the matrix and this machine.
//
//   auto plan = plan_product(matrix);
//   auto workspace = plan.make_workspace();
//   plan.apply(x, y, workspace);              // y = Ax
//   plan.apply(-1.0, x, 1.0, r, workspace);   // r = r − Ax
//
//   auto transposed = plan_product(matrix, {.transposed = true});   // y = Aᵀx
//
// The matrix may have any shape and is not needed after planning. Plans, workspaces and results
// have the properties of power plans (power_plan.hpp): a plan is a value; apply is const, allocates
// nothing and may run from several threads at once with a workspace each; results are the same from
// run to run, bit by bit.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "strata/base/types.hpp"
#include "strata/formats/csr.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/strided_vectors.hpp"
#include "strata/plans/workspace.hpp"

namespace strata {

namespace detail {
template <Value V, Index I>
struct Prepared;
}

template <Value V, Index I>
class ProductPlan {
 public:
  using Workspace = PlanWorkspace<V>;

  ProductPlan();
  ~ProductPlan();
  ProductPlan(ProductPlan&&) noexcept;
  ProductPlan& operator=(ProductPlan&&) noexcept;

  I rows() const;  // of the matrix, also where products are transposed
  I cols() const;
  int vectors() const;
  // How many rows the vectors of apply have: columns and rows of the matrix, of its transpose or,
  // in the plan's order, padded ones. Plans reorder square matrices only.
  I x_rows() const;
  I y_rows() const;

  Workspace make_workspace() const;

  // y = Ax, and y = αAx + βy; the old y is not read where β is 0. Element v of row r is at
  // r·vectors() + v. x must not overlap y. Throws InvalidArgument for vectors of other lengths and
  // for workspaces of other plans.
  void apply(std::span<const V> x, std::span<V> y, Workspace& workspace) const;
  void apply(V alpha, std::span<const V> x, V beta, std::span<V> y, Workspace& workspace) const;

  // The same for vectors of rows in the caller's order that are not interleaved, with a workspace
  // that has room for copies of them. They must not share elements.
  Workspace make_strided_workspace() const;
  void apply(V alpha, StridedVectors<const V> x, V beta, StridedVectors<V> y,
             Workspace& workspace) const;

  // Where the plan has the rows; for callers that work in its order.
  const PaddedOrder<I>& order() const;
  void to_plan_order(std::span<const V> of_rows, std::span<V> padded) const;
  void to_caller_order(std::span<const V> padded, std::span<V> of_rows) const;

  // New values on the pattern that the plan was made for. Throws InvalidArgument if the pattern is
  // another, and what the conversion throws if the format was asked for and refuses the values, as
  // symmetric CSR may; whatever is thrown, the plan is then as it was. Encoded values are encoded
  // again, as for powers, and other formats are converted again. Not while apply runs.
  void update_values(const Csr<V, I>& matrix);

  int threads() const;
  // What was decided and how, as data and in prose.
  const PlanRecord& record() const;
  const PowerCandidate& choice() const { return record().choice(); }
  std::string explain() const;

 private:
  const detail::Prepared<V, I>& prepared() const;
  void run(V alpha, const V* x, V beta, V* y, detail::WorkspaceState<V>& state) const;

  template <Value W, Index J>
  friend ProductPlan<W, J> plan_product(const Csr<W, J>& matrix, const ProductOptions& options);

  std::unique_ptr<detail::Prepared<V, I>> prepared_;
};

// Throws InvalidArgument for options that make no sense, Unavailable for kernels that processors do
// not have, and what a conversion throws if the format that is asked for refuses the matrix.
template <Value V, Index I>
ProductPlan<V, I> plan_product(const Csr<V, I>& matrix, const ProductOptions& options = {});

}  // namespace strata
