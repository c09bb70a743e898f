#include "strata/solvers/linear_solver.hpp"

#include <fmt/format.h>

#include <complex>

#include "strata/base/instantiate.hpp"
#include "strata/solvers/internal/linear_solver_on.hpp"
#include "strata/solvers/internal/processor_planner.hpp"
#include "strata/solvers/processor_space.hpp"

namespace strata::solvers {

std::string_view name_of(Method method) {
  switch (method) {
    case Method::cg: return "cg";
    case Method::ca_cg: return "ca-cg";
    case Method::minres: return "minres";
    case Method::bicgstab: return "bicgstab";
    case Method::gmres: return "gmres";
    case Method::ca_gmres: return "ca-gmres";
    case Method::chebyshev: return "chebyshev";
  }
  return "";
}

std::string_view name_of(Preconditioner preconditioner) {
  switch (preconditioner) {
    case Preconditioner::none: return "none";
    case Preconditioner::jacobi: return "jacobi";
    case Preconditioner::block_jacobi: return "block-jacobi";
    case Preconditioner::chebyshev: return "chebyshev";
    case Preconditioner::neumann: return "neumann";
    case Preconditioner::gmres: return "gmres";
  }
  return "";
}

template <Value V, Index I>
class LinearSolver<V, I>::Engine : public detail::LinearSolverOn<ProcessorSpace<V>> {
 public:
  using detail::LinearSolverOn<ProcessorSpace<V>>::LinearSolverOn;
};

template <Value V, Index I>
LinearSolver<V, I>::LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options) {
  detail::require_square(matrix.rows(), matrix.cols());
  engine_ = std::make_unique<Engine>(*detail::processor_planner(matrix, options.product.threads),
                                     options);
}
template <Value V, Index I>
LinearSolver<V, I>::~LinearSolver() = default;
template <Value V, Index I>
LinearSolver<V, I>::LinearSolver(LinearSolver&&) noexcept = default;
template <Value V, Index I>
LinearSolver<V, I>& LinearSolver<V, I>::operator=(LinearSolver&&) noexcept = default;

template <Value V, Index I>
SolveResult LinearSolver<V, I>::solve(std::span<const V> b, std::span<V> x,
                                      const SolveOptions& options) {
  return engine_->solve(b, x, options);
}

template <Value V, Index I>
void LinearSolver<V, I>::update_values(const Csr<V, I>& matrix) {
  engine_->update_values(*detail::processor_planner(matrix, engine_->threads()));
}

template <Value V, Index I>
int LinearSolver<V, I>::threads() const {
  return engine_->threads();
}

template <Value V, Index I>
std::string LinearSolver<V, I>::variant() const {
  return engine_->variant();
}

template <Value V, Index I>
std::string LinearSolver<V, I>::explain() const {
  return engine_->explain();
}

#define STRATA_INSTANTIATE(V, I) template class LinearSolver<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
