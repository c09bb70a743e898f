// PageRank: how often a walk that follows links, and now and then jumps anywhere, visits each node
// of a graph.
//
//   x⁺ = d Pᵀx + (1 − d ‖Pᵀx‖₁) / n,   P = links over the number of links of their row
//
//   L. Page, S. Brin, R. Motwani, T. Winograd, The PageRank citation ranking: bringing order to the
//   web, Stanford 1999
//
// What nodes without links have (Pᵀx does not add up to 1 then) is spread over all nodes. The
// change of an iteration is at most d times that of the one before: the error is at most d/(1 − d)
// times the last change. An iteration has one product by a plan for Pᵀ and two passes over vectors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/formats/csr.hpp"
#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

struct PageRankOptions {
  double damping = 0.85;     // d: how likely a link is followed
  double tolerance = 1e-10;  // for the change of an iteration in the 1-norm
  int most_iterations = 1000;
  bool weighted = false;  // links count as much as their values, which must not be negative
  int threads = 0;        // as plans have them
  bool autotune = true;
  // Called after every iteration with its change as the residual; false ends it.
  std::function<bool(const Iteration&)> progress = {};
};

struct PageRankResult {
  SolveStatus status = SolveStatus::converged;
  std::vector<double> ranks = {};  // of all rows; their sum is 1
  int iterations = 0;
  Offset products = 0;
  double change = 0;    // of the last iteration
  double error = 0;     // in the 1-norm, at most
  Offset dangling = 0;  // rows without links
  std::vector<Iteration> history = {};
  double setup_seconds = 0;
  SolveTimes times = {};
  std::string message = {};  // what happened, in a sentence, unless it converged
};

// An entry (i, j) is a link from i to j. Throws InvalidArgument for matrices that are not square,
// have no rows or, where they count, negative values or values that are not finite.
template <Value V, Index I>
PageRankResult page_rank(const Csr<V, I>& links, const PageRankOptions& options = {});

}  // namespace strata::solvers
