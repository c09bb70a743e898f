// What an iteration of a method should cost: products or powers as their plan predicts or has timed
// them, and passes over vectors by bytes over bandwidth or flops over the peak, whichever takes
// longer. An iteration is the sum, as its parts do not overlap (Hager and Wellein; see
// docs/model.md).
#pragma once

#include "strata/base/types.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace strata::solvers {

// Passes over vectors of one iteration, without preconditioner; of GMRES and CA-GMRES the mean of a
// cycle, of s-step methods and chebyshev a share of a block or sweep.
struct VectorWork {
  double moved = 0;       // elements read and written, per row
  double flops = 0;       // per row, with two for complex numbers as for real ones
  double passes = 0;      // parallel regions, or kernels on a GPU
  double reductions = 0;  // sums over all parts of vectors, each of one or more numbers
};
VectorWork vector_work_of(const LinearSolverOptions& options);

// What a device does per second, and what starting a pass costs.
struct DeviceRates {
  double bytes_per_second = 0;
  double flops_per_second = 0;
  double pass_seconds = 0;
};

// Of the matrix: one product, and s of them by a sweep.
struct ProductTimes {
  double product = 0;
  double powers = 0;
  int power = 1;
};

struct IterationCost {
  double products = 0;  // seconds
  double vectors = 0;
  double total() const { return products + vectors; }
};
IterationCost predict_iteration(const LinearSolverOptions& options, const ProductTimes& products,
                                Offset rows, Offset value_bytes, const DeviceRates& rates);

}  // namespace strata::solvers
