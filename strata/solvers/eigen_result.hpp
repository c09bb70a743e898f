// What all methods for eigenvalues take and give besides the matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

// Which end of the spectrum; of both ends half each, one more of the largest if the count is odd.
enum class Wanted { largest, smallest, both };
inline constexpr Wanted kWanted[] = {Wanted::largest, Wanted::smallest, Wanted::both};
std::string_view name_of(Wanted wanted);

// A restart, or an iteration of a subspace: its number from 1 on, the products with the matrix up
// to then, how many of the wanted eigenpairs are there by the estimate of the method, and the
// largest residual of all that are wanted, ‖Ax − λx‖ / ‖A‖, by the same estimate.
struct EigenIteration {
  int number = 0;
  Offset products = 0;
  int converged = 0;
  double residual = 0;
};

struct EigenOptions {
  int count = 6;
  Wanted which = Wanted::largest;
  double tolerance = 1e-8;  // for ‖Ax − λx‖ / ‖A‖, ‖A‖ the largest |λ| that was met
  int subspace = 0;         // how many vectors a method keeps at most; 0: chosen
  Offset most_products = 10'000'000;
  std::uint64_t seed = 1;  // of random vectors
  // Krylov spaces of one vector have one eigenvector of every eigenvalue. When all are there, look
  // for further ones of the same eigenvalues in what is orthogonal to them.
  bool find_copies = true;
  // Called after every restart; false ends the method, which keeps what it has.
  std::function<bool(const EigenIteration&)> progress = {};
};

struct EigenResult {
  SolveStatus status = SolveStatus::converged;
  int restarts = 0;
  Offset products = 0;
  // The largest first, unless the smallest were asked for alone; of both ends, and of an interval,
  // the smallest first.
  std::vector<double> values = {};
  std::vector<double> residuals = {};  // ‖Ax − λx‖ / (‖A‖ ‖x‖) of each, computed, not estimated
  double norm = 0;                     // ‖A‖, as above
  std::vector<EigenIteration> history = {};
  SolveTimes times = {};
  std::string message = {};               // what happened, in a sentence, unless it converged
  std::vector<std::string> remarks = {};  // what a method had to change on its way
};

}  // namespace strata::solvers
