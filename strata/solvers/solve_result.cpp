#include "strata/solvers/solve_result.hpp"

namespace strata::solvers {

std::string_view name_of(SolveStatus status) {
  switch (status) {
    case SolveStatus::converged: return "converged";
    case SolveStatus::stagnated: return "stagnated";
    case SolveStatus::most_iterations: return "most-iterations";
    case SolveStatus::not_definite: return "not-definite";
    case SolveStatus::breakdown: return "breakdown";
    case SolveStatus::not_finite: return "not-finite";
    case SolveStatus::stopped: return "stopped";
  }
  return "";
}

}  // namespace strata::solvers
