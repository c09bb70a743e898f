// Conjugate gradients of what the GPU's vendor has, to compare with: the fastest product of
// cuSPARSE and vectors by cuBLAS, with scalars on the device and the loop of our own methods, which
// reads them while the next iteration runs.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"
#include "strata/formats/csr.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::gpu {

template <Value V>
class VendorSolver {
 public:
  // Times all products that the library has and keeps the fastest. Throws Unavailable where this
  // build has no such library, and InvalidArgument for matrices that are not square. In
  // strata_peers.
  template <Index I>
  VendorSolver(const Csr<V, I>& matrix, Stream& stream,
               const std::function<void(const std::string&)>& progress = {});
  VendorSolver(VendorSolver&&) noexcept;
  ~VendorSolver();

  // As LinearSolver::solve.
  solvers::SolveResult solve(std::span<const V> b, std::span<V> x,
                             const solvers::SolveOptions& options = {});

  const std::string& name() const;  // of the product
  double product_seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace strata::gpu
