// LinearSolver: analyse a matrix once, then solve Ax = b for many right-hand sides.
//
//   LinearSolver<double, std::int32_t> solver(matrix, {.method = Method::cg});
//   std::vector<double> x(b.size());                         // the first guess
//   const SolveResult result = solver.solve(b, x);
//   if (result.status != SolveStatus::converged) std::puts(result.message.c_str());
//
// Products run by a plan (plans/product_plan.hpp), or by one for powers where method or
// preconditioner needs several at a time (plans/power_plan.hpp). Vectors are in its order inside,
// so that rows move once per system and not once per product.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strata/formats/csr.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/solvers/krylov_basis.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

enum class Method {
  cg,         // Hermitian positive definite
  ca_cg,      // the same, s iterations at a time
  minres,     // Hermitian
  bicgstab,   // any, with short recurrences
  gmres,      // any, with a basis that is kept
  ca_gmres,   // the same, s vectors of it at a time
  chebyshev,  // Hermitian positive definite, without reductions
};
inline constexpr Method kMethods[] = {Method::cg,       Method::ca_cg, Method::minres,
                                      Method::bicgstab, Method::gmres, Method::ca_gmres,
                                      Method::chebyshev};
std::string_view name_of(Method method);

enum class Preconditioner {
  none,
  jacobi,        // by the diagonal, of which every row needs an element
  block_jacobi,  // by the blocks on the diagonal
  // Polynomials of the matrix, one sweep each (inverse_polynomial.hpp).
  chebyshev,  // Hermitian positive definite matrices
  neumann,    // positive real spectra
  gmres,      // any
};
inline constexpr Preconditioner kPreconditioners[] = {
    Preconditioner::none,      Preconditioner::jacobi,  Preconditioner::block_jacobi,
    Preconditioner::chebyshev, Preconditioner::neumann, Preconditioner::gmres};
std::string_view name_of(Preconditioner preconditioner);

struct LinearSolverOptions {
  Method method = Method::cg;
  Preconditioner preconditioner = Preconditioner::none;  // none for ca_cg, ca_gmres and chebyshev
  int restart = 30;  // iterations of a cycle of GMRES; of CA-GMRES rounded to blocks
  int powers = 8;    // s of CA-CG and CA-GMRES
  KrylovBasis basis = KrylovBasis::newton;  // of CA-CG and CA-GMRES
  int degree = 8;      // of polynomials: preconditioners, and a sweep of the method chebyshev
  int block_rows = 4;  // of block Jacobi
  // Fewer reductions, for vectors whose parts are far from each other: one per iteration of cg,
  // minres and gmres, two of bicgstab, one per s iterations of ca_cg and ca_gmres. Costs up to one
  // product more per cycle, or s (fused_*.hpp, ca_cg.hpp, bicgstab.hpp).
  bool fused = false;
  // How products and powers are planned; their vectors are in the plan's order.
  ProductOptions product = {};
};

template <Value V, Index I>
class LinearSolver {
 public:
  // Throws InvalidArgument for matrices that are not square, options that do not go together, and a
  // diagonal with zeros or singular blocks, if that is to be divided by; what the plans throw; and
  // Error for spectra that a polynomial cannot have, such as negative eigenvalues for chebyshev.
  explicit LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options = {});
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  // `x` has the first guess and gets the solution, the best there is if the method does not
  // converge. Throws InvalidArgument for vectors of other lengths.
  SolveResult solve(std::span<const V> b, std::span<V> x, const SolveOptions& options = {});

  // New values on the old pattern, as for plans. What methods and preconditioners know of the
  // spectrum is found out again.
  void update_values(const Csr<V, I>& matrix);

  int threads() const;
  // What products or powers run as, in a few words: "packed-sell", "wavefront packed-sell".
  std::string variant() const;
  // How products are computed, and what is known of the spectrum where that matters, in prose.
  std::string explain() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace strata::solvers
