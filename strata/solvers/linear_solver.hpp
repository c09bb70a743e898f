// LinearSolver: analyse a matrix once, then solve Ax = b for many right-hand sides.
//
//   LinearSolver<double, std::int32_t> solver(matrix, {.method = Method::cg});
//   std::vector<double> x(b.size());                         // the first guess
//   const SolveResult result = solver.solve(b, x);
//   if (result.status != SolveStatus::converged) std::puts(result.message.c_str());
//
// Products run by a plan (plans/product_plan.hpp), and vectors are in its order inside, so that
// rows move once per system and not once per product.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "strata/formats/csr.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

enum class Method {
  cg,        // Hermitian positive definite
  minres,    // Hermitian
  bicgstab,  // any, with short recurrences
  gmres      // any, with a basis that is kept
};
inline constexpr Method kMethods[] = {Method::cg, Method::minres, Method::bicgstab, Method::gmres};
std::string_view name_of(Method method);

enum class Preconditioner {
  none,
  jacobi  // by the diagonal, of which every row needs an element
};
inline constexpr Preconditioner kPreconditioners[] = {Preconditioner::none, Preconditioner::jacobi};
std::string_view name_of(Preconditioner preconditioner);

struct LinearSolverOptions {
  Method method = Method::cg;
  Preconditioner preconditioner = Preconditioner::none;
  int restart = 30;             // of GMRES
  ProductOptions product = {};  // how products are planned; their vectors are in the plan's order
};

template <Value V, Index I>
class LinearSolver {
 public:
  // Throws InvalidArgument for matrices that are not square and for a diagonal with zeros, if that
  // is to be divided by; and what plan_product throws.
  explicit LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options = {});

  // `x` has the first guess and gets the solution, the best there is if the method does not
  // converge. Throws InvalidArgument for vectors of other lengths.
  SolveResult solve(std::span<const V> b, std::span<V> x, const SolveOptions& options = {});

  // New values on the old pattern, as for plans.
  void update_values(const Csr<V, I>& matrix);

  const ProductPlan<V, I>& plan() const { return plan_; }

 private:
  void take_diagonal(const Csr<V, I>& matrix);

  LinearSolverOptions options_;
  ProductPlan<V, I> plan_;
  typename ProductPlan<V, I>::Workspace workspace_;
  Array<V> inverse_diagonal_;  // in the plan's order
};

}  // namespace strata::solvers
