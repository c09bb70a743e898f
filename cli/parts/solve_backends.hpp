// Where `strata solve` runs: on processors, on a GPU, or by the libraries of its vendor.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace strata::cli {

enum class SolveBackend { cpu, gpu, vendor };

// Of a list such as "cpu,cuda,vendor". Throws InvalidArgument for other words, Unavailable for what
// this build or machine does not have.
std::vector<SolveBackend> choose_solve_backends(const std::string& text);
// As results name it: "cpu", "cuda" or "hip", "vendor".
std::string_view name_of(SolveBackend backend);

struct BackendSolution {
  solvers::SolveResult result;
  std::string variant;  // how products are computed
  int threads = 0;      // of processors
};

// Solves with x as the first guess. On GPUs the system is solved for a few iterations first, so
// that loading kernels is not part of the time; the profile is theirs. The vendor's libraries have
// conjugate gradients without a preconditioner, and other methods throw Unavailable.
template <Value V, Index I>
BackendSolution solve_on(SolveBackend backend, const Csr<V, I>& matrix,
                         const solvers::LinearSolverOptions& solver, std::span<const V> b,
                         std::span<V> x, const solvers::SolveOptions& options,
                         const gpu::GpuProfile* profile,
                         const std::function<void(const std::string&)>& progress);

}  // namespace strata::cli
