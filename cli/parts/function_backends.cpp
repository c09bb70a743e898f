#include "cli/parts/function_backends.hpp"

#include <algorithm>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/gen/generate.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#include "strata/solvers/gpu/density_of_states.hpp"
#include "strata/solvers/gpu/eigen_solver.hpp"
#include "strata/solvers/gpu/exponential.hpp"
#endif

namespace strata::cli {

using solvers::DensityOfStates;
using solvers::DensityOptions;
using solvers::Eigenpairs;
using solvers::EigenSolverOptions;
using solvers::ExponentialOptions;
using solvers::ExponentialResult;

std::string FunctionBackend::name() const {
  return gpu ? std::string(gpu::name_of(gpu->profile.device.api)) : "cpu";
}

std::string FunctionBackend::heading() const {
  return gpu ? gpu_heading_text(gpu->profile) : "";
}

FunctionBackend find_function_backend(bool on_gpu, int device, ResultDocument& document,
                                      Progress& progress) {
  FunctionBackend backend;
  if (!on_gpu) return backend;
  backend.gpu = find_gpu(device, document, progress);
#ifdef STRATA_HAS_GPU
  gpu::use_device(device);
  gpu::set_gpu_profile(device, backend.gpu->profile);  // plans predict with the same
#endif
  return backend;
}

namespace {

// The functions of a GPU are in its library, which not every build has.
[[noreturn]] [[maybe_unused]] void no_gpu_code() {
  throw Unavailable(why_no_gpu(""));
}

template <class Exponential, class Vector, class Result>
ExponentialResult run(Exponential& exponential, const ExponentialTask& task, Vector v,
                      Result result) {
  return task.imaginary ? exponential.apply_imaginary(task.time, v, result)
                        : exponential.phi(task.phi, task.time, v, result);
}

#ifdef STRATA_HAS_GPU

template <Value V, Index I>
Eigenpairs<V> eigenpairs_on_gpu(const Csr<V, I>& matrix, const EigenSolverOptions& options) {
  gpu::Stream stream;
  EigenSolverOptions small = options;
  small.eigen = {.count = 2, .tolerance = 1e-3, .most_products = 200};
  small.interval = solvers::ChebyshevInterval{1, 3};
  small.degree = 10;
  small.vectors = 8;
  small.autotune = small.time_bare = false;
  gpu::eigenpairs(generate<V, I>("stencil5:8x8"), small, stream);
  return gpu::eigenpairs(matrix, options, stream);
}

template <Value V, Index I>
DensityOfStates density_on_gpu(const Csr<V, I>& matrix, const DensityOptions& options) {
  gpu::Stream stream;
  gpu::density_of_states(generate<V, I>("stencil5:8x8"),
                         {.moments = 16, .vectors = 8, .autotune = false}, stream);
  return gpu::density_of_states(matrix, options, stream);
}

template <Value V, Index I>
ExponentialResult exponential_on_gpu(const Csr<V, I>& matrix, const ExponentialOptions& options,
                                     const ExponentialTask& task, std::span<const V> v,
                                     std::span<V> result) {
  gpu::Stream stream;
  gpu::MatrixExponential<V> exponential(matrix, options, stream);
  const ExponentialResult first = run(exponential, task, v, result);
  if (first.status != solvers::SolveStatus::converged) return first;
  ExponentialResult again = run(exponential, task, v, result);
  again.setup_seconds = std::max(again.setup_seconds, first.setup_seconds);
  return again;
}

#else

template <Value V, Index I>
Eigenpairs<V> eigenpairs_on_gpu(const Csr<V, I>&, const EigenSolverOptions&) {
  no_gpu_code();
}
template <Value V, Index I>
DensityOfStates density_on_gpu(const Csr<V, I>&, const DensityOptions&) {
  no_gpu_code();
}
template <Value V, Index I>
ExponentialResult exponential_on_gpu(const Csr<V, I>&, const ExponentialOptions&,
                                     const ExponentialTask&, std::span<const V>, std::span<V>) {
  no_gpu_code();
}

#endif

}  // namespace

template <Value V, Index I>
Eigenpairs<V> eigenpairs_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                            const EigenSolverOptions& options) {
  return backend.gpu ? eigenpairs_on_gpu(matrix, options) : solvers::eigenpairs(matrix, options);
}

template <Value V, Index I>
DensityOfStates density_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                           const DensityOptions& options) {
  return backend.gpu ? density_on_gpu(matrix, options)
                     : solvers::density_of_states(matrix, options);
}

template <Value V, Index I>
ExponentialResult exponential_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                                 const ExponentialOptions& options, const ExponentialTask& task,
                                 std::span<const V> v, std::span<V> result) {
  if (backend.gpu) return exponential_on_gpu(matrix, options, task, v, result);
  solvers::MatrixExponential<V, I> exponential(matrix, options);
  return run(exponential, task, v, result);
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template Eigenpairs<V> eigenpairs_on(const FunctionBackend&, const Csr<V, I>&,               \
                                       const EigenSolverOptions&);                             \
  template DensityOfStates density_on(const FunctionBackend&, const Csr<V, I>&,                \
                                      const DensityOptions&);                                  \
  template ExponentialResult exponential_on(const FunctionBackend&, const Csr<V, I>&,          \
                                            const ExponentialOptions&, const ExponentialTask&, \
                                            std::span<const V>, std::span<V>)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli
