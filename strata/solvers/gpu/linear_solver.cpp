#include "strata/solvers/gpu/linear_solver.hpp"

#include <chrono>

#include "strata/base/instantiate.hpp"
#include "strata/device/event.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/gpu/device_space.hpp"
#include "strata/solvers/internal/run_method.hpp"

namespace strata::gpu {

using solvers::LinearSolverOptions;
using solvers::Operator;
using solvers::SolveOptions;
using solvers::SolveResult;

namespace {

ProductOptions in_plan_order(ProductOptions options) {
  options.vector_order = VectorOrder::plan;
  return options;
}

}  // namespace

template <Value V>
template <Index I>
LinearSolver<V>::LinearSolver(const Csr<V, I>& matrix, const LinearSolverOptions& options,
                              Stream& stream)
    : options_(options), stream_(&stream) {
  solvers::detail::require_square(matrix.rows(), matrix.cols());
  plan_ = plan_product(matrix, in_plan_order(options.product), stream);
  workspace_ = plan_.make_workspace(stream);
  take_diagonal(matrix);
}

template <Value V>
template <Index I>
void LinearSolver<V>::take_diagonal(const Csr<V, I>& matrix) {
  if (options_.preconditioner != solvers::Preconditioner::jacobi) return;
  const std::vector<V> inverse = solvers::inverse_diagonal(matrix);
  const DeviceArray<V> on_device = to_device(std::span<const V>(inverse), *stream_);
  DeviceArray<V> ordered(plan_.x_rows());
  plan_.to_plan_order(on_device.span(), ordered.span(), *stream_);
  stream_->synchronize();
  inverse_diagonal_ = std::move(ordered);
}

template <Value V>
template <Index I>
void LinearSolver<V>::update_values(const Csr<V, I>& matrix) {
  plan_.update_values(matrix, *stream_);
  take_diagonal(matrix);
}

template <Value V>
SolveResult LinearSolver<V>::solve(std::span<const V> b, std::span<V> x,
                                   const SolveOptions& options) {
  solvers::detail::require_lengths(std::ssize(b), std::ssize(x), plan_.rows());
  const DeviceArray<V> device_b = to_device(b, *stream_);
  DeviceArray<V> device_x = to_device(std::span<const V>(x), *stream_);
  SolveResult result = solve(device_b.span(), device_x.span(), options);
  copy(std::as_const(device_x).span(), x, *stream_);
  stream_->synchronize();
  return result;
}

template <Value V>
SolveResult LinearSolver<V>::solve(DeviceSpan<const V> b, DeviceSpan<V> x,
                                   const SolveOptions& options) {
  solvers::detail::require_lengths(b.size(), x.size(), plan_.rows());
  using Space = DeviceSpace<V>;
  stream_->synchronize();
  const auto start = std::chrono::steady_clock::now();
  Space space(plan_.x_rows(), *stream_);
  auto ordered_b = space.make_vector(), ordered_x = space.make_vector();
  plan_.to_plan_order(b, ordered_b.span(), *stream_);
  plan_.to_plan_order(DeviceSpan<const V>(x), ordered_x.span(), *stream_);
  const Operator<Space> a = [&](DeviceSpan<const V> from, DeviceSpan<V> to) {
    plan_.apply(from, to, workspace_, *stream_);
  };
  Operator<Space> divide;
  if (options_.preconditioner == solvers::Preconditioner::jacobi) {
    divide = [&](DeviceSpan<const V> from, DeviceSpan<V> to) {
      solvers::VectorProgram<V> program;
      program.set(to, {solvers::weighted<V>(from, inverse_diagonal_)});
      space.run(program);
    };
  }
  SolveResult result =
      solvers::detail::run_method<Space>(options_, space, a, divide, ordered_b, ordered_x, options);
  plan_.to_caller_order(std::as_const(ordered_x).span(), x, *stream_);
  stream_->synchronize();
  result.times.total =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

template <Value V>
double LinearSolver<V>::product_seconds() {
  constexpr int kProducts = 20;
  DeviceArray<V> x(plan_.x_rows()), y(plan_.y_rows());
  fill_zero(x.span(), *stream_);
  plan_.apply(std::as_const(x).span(), y.span(), workspace_, *stream_);
  Event begin, end;
  begin.record(*stream_);
  for (int k = 0; k < kProducts; ++k) {
    plan_.apply(std::as_const(x).span(), y.span(), workspace_, *stream_);
  }
  end.record(*stream_);
  return seconds_between(begin, end) / kProducts;
}

#define STRATA_INSTANTIATE_CLASS(V, unused) template class LinearSolver<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#define STRATA_INSTANTIATE(V, I)                                                                 \
  template LinearSolver<V>::LinearSolver(const Csr<V, I>&, const LinearSolverOptions&, Stream&); \
  template void LinearSolver<V>::update_values(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
