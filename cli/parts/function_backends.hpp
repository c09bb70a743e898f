// Where `strata eig` and `strata expm` run: on processors or on a GPU.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/parts/document.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/eigen_solver.hpp"
#include "strata/solvers/exponential.hpp"

namespace strata::cli {

// One place to compute in.
struct FunctionBackend {
  std::optional<KnownGpu> gpu = {};  // none: processors

  // As results name it: "cpu", "cuda" or "hip".
  std::string name() const;
  // The line above a table; empty for processors.
  std::string heading() const;
};

// With what is known of the GPU, which is then current.
FunctionBackend find_function_backend(bool on_gpu, int device, ResultDocument& document,
                                      Progress& progress);

// On GPUs a small matrix comes first, so that loading kernels is not part of the time.
template <Value V, Index I>
solvers::Eigenpairs<V> eigenpairs_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                                     const solvers::EigenSolverOptions& options);
template <Value V, Index I>
solvers::DensityOfStates density_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                                    const solvers::DensityOptions& options);

// exp(tA), exp(−itA) or φ_k(tA).
struct ExponentialTask {
  double time = 1;
  bool imaginary = false;
  int phi = 0;
};
// On GPUs it is computed twice, for the same reason.
template <Value V, Index I>
solvers::ExponentialResult exponential_on(const FunctionBackend& backend, const Csr<V, I>& matrix,
                                          const solvers::ExponentialOptions& options,
                                          const ExponentialTask& task, std::span<const V> v,
                                          std::span<V> result);

}  // namespace strata::cli
