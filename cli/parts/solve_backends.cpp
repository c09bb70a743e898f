#include "cli/parts/solve_backends.hpp"

#include <fmt/format.h>

#include "cli/parts/backends.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/measure/gpu/vendor_solver.hpp"
#include "strata/solvers/gpu/linear_solver.hpp"
#endif

namespace strata::cli {

using solvers::LinearSolverOptions;
using solvers::SolveOptions;

std::vector<SolveBackend> choose_solve_backends(const std::string& text) {
  const Backends chosen = choose_power_backends(text);
  std::vector<SolveBackend> backends;
  if (chosen.cpu) backends.push_back(SolveBackend::cpu);
  if (chosen.gpu) backends.push_back(SolveBackend::gpu);
  if (chosen.vendor) backends.push_back(SolveBackend::vendor);
  return backends;
}

std::string_view name_of(SolveBackend backend) {
  switch (backend) {
    case SolveBackend::cpu: return "cpu";
#ifdef STRATA_HAS_GPU
    case SolveBackend::gpu: return gpu::name_of(gpu::api());
#endif
    default: return "vendor";
  }
}

namespace {

#ifdef STRATA_HAS_GPU

SolveOptions few_iterations(SolveOptions options) {
  options.most_iterations = std::min(options.most_iterations, 10);
  options.progress = {};
  return options;
}

// Products are timed by themselves: nobody stops the clock between kernels.
template <Value V, class Solver>
BackendSolution run_warm(Solver& solver, std::span<const V> b, std::span<V> x,
                         const SolveOptions& options) {
  std::vector<V> copy(x.begin(), x.end());
  solver.solve(b, copy, few_iterations(options));
  BackendSolution solution{solver.solve(b, x, options), "", 0};
  solution.result.times.products =
      std::min(static_cast<double>(solution.result.products) * solver.product_seconds(),
               solution.result.times.total);
  return solution;
}

template <Value V, Index I>
BackendSolution solve_on_gpu(const Csr<V, I>& matrix, LinearSolverOptions solver_options,
                             std::span<const V> b, std::span<V> x, const SolveOptions& options,
                             const gpu::GpuProfile* profile) {
  gpu::Stream stream;
  solver_options.product.gpu_profile = profile;
  gpu::LinearSolver<V> solver(matrix, solver_options, stream);
  BackendSolution solution = run_warm<V>(solver, b, x, options);
  solution.variant = solver.variant();
  return solution;
}

template <Value V, Index I>
BackendSolution solve_by_vendor(const Csr<V, I>& matrix, const LinearSolverOptions& solver_options,
                                std::span<const V> b, std::span<V> x, const SolveOptions& options,
                                const std::function<void(const std::string&)>& progress) {
  if (solver_options.method != solvers::Method::cg ||
      solver_options.preconditioner != solvers::Preconditioner::none) {
    throw Unavailable("of the vendor's libraries there is cg without a preconditioner");
  }
  gpu::Stream stream;
  gpu::VendorSolver<V> solver(matrix, stream, progress);
  BackendSolution solution = run_warm<V>(solver, b, x, options);
  solution.variant = solver.name();
  return solution;
}

#endif

}  // namespace

template <Value V, Index I>
BackendSolution solve_on(SolveBackend backend, const Csr<V, I>& matrix,
                         const LinearSolverOptions& solver_options, std::span<const V> b,
                         std::span<V> x, const SolveOptions& options,
                         [[maybe_unused]] const gpu::GpuProfile* profile,
                         [[maybe_unused]] const std::function<void(const std::string&)>& progress) {
#ifdef STRATA_HAS_GPU
  if (profile != nullptr) gpu::use_device(profile->device.index);
  if (backend == SolveBackend::gpu) {
    return solve_on_gpu(matrix, solver_options, b, x, options, profile);
  }
  if (backend == SolveBackend::vendor) {
    return solve_by_vendor(matrix, solver_options, b, x, options, progress);
  }
#endif
  if (backend != SolveBackend::cpu) throw Unavailable("this build has no GPU code");
  solvers::LinearSolver<V, I> solver(matrix, solver_options);
  return {solver.solve(b, x, options), solver.variant(), solver.threads()};
}

#define STRATA_INSTANTIATE(V, I)                                                                \
  template BackendSolution solve_on(SolveBackend, const Csr<V, I>&, const LinearSolverOptions&, \
                                    std::span<const V>, std::span<V>, const SolveOptions&,      \
                                    const gpu::GpuProfile*,                                     \
                                    const std::function<void(const std::string&)>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli
