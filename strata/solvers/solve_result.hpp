// What all methods for linear systems take and give besides matrix and vectors.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"

namespace strata::solvers {

// A step that was done: its number from 1 on, the products with the matrix up to then, and the norm
// of the residual over that of the right-hand side, as the recurrence has it.
struct Iteration {
  int number = 0;
  Offset products = 0;
  double residual = 0;
};

struct SolveOptions {
  double tolerance = 1e-8;  // for ‖b − Ax‖ / ‖b‖
  int most_iterations = 1000;
  // Called after every iteration; false ends the method, which keeps what it has.
  std::function<bool(const Iteration&)> progress = {};
};

enum class SolveStatus {
  converged,
  stagnated,  // the true residual does not follow the recurrence any further
  most_iterations,
  not_definite,  // a direction in which the matrix is not positive
  breakdown,     // a division by zero that the recurrence cannot avoid
  not_finite,    // NaN or infinity in the matrix, the vectors, or by overflow
  stopped        // by progress
};
std::string_view name_of(SolveStatus status);

// Seconds.
struct SolveTimes {
  double total = 0;
  double products = 0;  // with the matrix, powers included
  double preconditioner = 0;
  double orthogonalisation = 0;  // passes over blocks of vectors, and their inner products
  double reductions = 0;         // passes that only read vectors
  double updates = 0;            // passes that change vectors, with the reductions fused into them
  double cycles = 0;  // of the total, from the first residual to the last: what iterations take

  // The host's own work, and what nobody clocked.
  double rest() const {
    return total - products - preconditioner - orthogonalisation - reductions - updates;
  }
};

// Seconds of a product with one vector in the sweeps of a method on powers: what it adds to them.
struct SweptProduct {
  double in_method = 0;  // the mean of all of its sweeps
  double bare = 0;       // in bare powers of the same plan, the median; 0: not asked for
};

struct SolveResult {
  SolveStatus status = SolveStatus::converged;
  int iterations = 0;
  Offset products = 0;
  double residual = 0;  // ‖b − Ax‖ / ‖b‖ of the solution that is returned, computed, not recursive
  std::vector<Iteration> history = {};
  SolveTimes times = {};
  std::string message = {};  // what happened, in a sentence, unless it converged
  std::string remark = {};   // what the method decided on its way, if anything
};

}  // namespace strata::solvers
