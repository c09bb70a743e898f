#include "strata/solvers/linear_solver.hpp"

#include <chrono>
#include <complex>

#include "strata/base/instantiate.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/internal/run_method.hpp"
#include "strata/solvers/processor_space.hpp"

namespace strata::solvers {

namespace {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// An operator whose time is added up.
template <class Space>
Operator<Space> timed(Operator<Space> work, double& seconds) {
  if (!work) return {};
  return [work = std::move(work), &seconds](typename Space::ConstView x, typename Space::View y) {
    const Stopwatch watch;
    work(x, y);
    seconds += watch.seconds();
  };
}

ProductOptions in_plan_order(ProductOptions options) {
  options.vector_order = VectorOrder::plan;
  return options;
}

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::cg: return "cg";
    case Method::minres: return "minres";
    case Method::bicgstab: return "bicgstab";
    case Method::gmres: return "gmres";
  }
  return "";
}

std::string_view name_of(Preconditioner preconditioner) {
  return preconditioner == Preconditioner::jacobi ? "jacobi" : "none";
}

template <Value V, Index I>
LinearSolver<V, I>::LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options)
    : options_(options) {
  detail::require_square(matrix.rows(), matrix.cols());
  plan_ = plan_product(matrix, in_plan_order(options.product));
  workspace_ = plan_.make_workspace();
  take_diagonal(matrix);
}

template <Value V, Index I>
void LinearSolver<V, I>::take_diagonal(const Csr<V, I>& matrix) {
  if (options_.preconditioner != Preconditioner::jacobi) return;
  Array<V> ordered(static_cast<std::size_t>(plan_.x_rows()));
  plan_.to_plan_order(inverse_diagonal(matrix), ordered);
  inverse_diagonal_ = std::move(ordered);
}

template <Value V, Index I>
void LinearSolver<V, I>::update_values(const Csr<V, I>& matrix) {
  plan_.update_values(matrix);
  take_diagonal(matrix);
}

template <Value V, Index I>
SolveResult LinearSolver<V, I>::solve(std::span<const V> b, std::span<V> x,
                                      const SolveOptions& options) {
  detail::require_lengths(std::ssize(b), std::ssize(x), plan_.rows());
  using Space = ProcessorSpace<V>;
  const Stopwatch watch;
  Space space(plan_.x_rows(), plan_.threads());
  auto ordered_b = space.make_vector(), ordered_x = space.make_vector();
  plan_.to_plan_order(b, ordered_b);
  plan_.to_plan_order(x, ordered_x);
  double product_seconds = 0, preconditioner_seconds = 0;
  const Operator<Space> a = timed<Space>(
      [&](std::span<const V> from, std::span<V> to) { plan_.apply(from, to, workspace_); },
      product_seconds);
  Operator<Space> divide;
  if (options_.preconditioner == Preconditioner::jacobi) {
    divide = [&](std::span<const V> from, std::span<V> to) {
      VectorProgram<V> program;
      program.set(to, {weighted<V>(from, inverse_diagonal_)});
      space.run(program);
    };
  }
  const Operator<Space> m = timed<Space>(std::move(divide), preconditioner_seconds);

  SolveResult result =
      detail::run_method<Space>(options_, space, a, m, ordered_b, ordered_x, options);
  plan_.to_caller_order(ordered_x, x);
  result.times.total = watch.seconds();
  result.times.products = product_seconds;
  result.times.preconditioner = preconditioner_seconds;
  return result;
}

#define STRATA_INSTANTIATE(V, I) template class LinearSolver<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers
