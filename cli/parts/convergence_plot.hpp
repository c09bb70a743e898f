// Residuals over products, drawn with characters.
#pragma once

#include <string>
#include <vector>

#include "strata/solvers/solve_result.hpp"

namespace strata::cli {

struct ConvergenceCurve {
  std::string name;
  std::vector<solvers::Iteration> history;
};

// One letter per curve, decades down to the tolerance or the smallest residual, and a legend. Empty
// where nothing was iterated.
std::string convergence_plot(const std::vector<ConvergenceCurve>& curves, double tolerance);

}  // namespace strata::cli
