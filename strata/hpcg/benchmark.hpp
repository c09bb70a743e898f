// The HPCG benchmark: conjugate gradients with the multigrid preconditioner, checked and counted as
// the specification demands (levels.hpp names it).
//
//   const hpcg::Result result = hpcg::run({.grid = Grid({104, 104, 104})});
//   for (const hpcg::Check& check : result.checks) assert(check.passed);
//   result.rating;   // flops per second
//
// The phases are those of HPCG. The reference, with Gauss–Seidel in the order of the points, does
// 50 iterations; what they leave of the residual is what the coloured one has to reach. Sets of as
// many iterations as that takes are timed, and count as the 50 of the reference.
//
// Not as in HPCG: one process; sets are few and short unless asked for otherwise; residuals are
// computed before and after each set besides those of the recurrence; and the preconditioner is
// applied once more than there are iterations. All of that is inside the time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/stored_values.hpp"
#include "strata/gen/grid.hpp"
#include "strata/hpcg/model.hpp"
#include "strata/machine/profile.hpp"

namespace strata::hpcg {

struct Options {
  Grid grid = Grid({104, 104, 104});
  int threads = 0;          // 0: as many as there are
  double min_seconds = 10;  // of the timed sets together; there are at least two
  // HPCG allows no use of the fact that values repeat: then they are stored as they are.
  StoredValues values = StoredValues::full;
  std::uint64_t seed = 1;                   // of the vectors for checks of symmetry
  const MachineProfile* profile = nullptr;  // to predict with; none: that of this machine
  std::function<void(std::string_view phase)> progress = {};  // a phase begins
  std::function<void()> poll = {};  // called after every iteration; may throw
};

// Passed if the value is at most the limit.
struct Check {
  std::string name;
  double value = 0;
  double limit = 0;
  bool passed = false;
};

// Flops of one set of iterations, as HPCG counts them.
struct Flops {
  double dots = 0;
  double updates = 0;  // of vectors: waxpby
  double products = 0;
  double multigrid = 0;

  double total() const { return dots + updates + products + multigrid; }
};
// `entries` by level, the finest first.
Flops flops_of(int iterations, Offset rows, const std::vector<Offset>& entries);

struct Result {
  Grid grid;
  std::vector<Grid> grids;  // of the levels
  Offset rows = 0;
  std::vector<Offset> entries;  // by level
  int threads = 0;
  std::string product;  // how products run, in words
  std::vector<Check> checks;

  int reference_iterations = 0;
  double reference_residual = 0;  // |r|/|b| after them, by the recurrence
  double reference_seconds = 0;
  int iterations = 0;  // that reach it with the coloured preconditioner
  int sets = 0;
  double residual = 0;          // of a set, by the recurrence
  double true_residual = 0;     // |b - Ax|/|b|, computed
  double setup_seconds = 0;     // making the problem
  double optimise_seconds = 0;  // plans and colours
  double seconds = 0;           // of all sets
  Flops flops;                  // of a set of `iterations`, as counted
  double done_flops = 0;        // of those, by what is computed in fact

  double raw = 0;           // flops of all iterations per second
  double converged = 0;     // of reference_iterations instead
  double rating = 0;        // with a tenth of the time to set up and to optimise for each set
  std::vector<Part> parts;  // of an iteration: predicted and measured

  bool passed() const;
  double predicted_seconds() const;  // of an iteration
  double measured_seconds() const;
};

// Throws InvalidArgument for grids that are too small; and what plans throw.
Result run(const Options& options);

}  // namespace strata::hpcg
