#include "cli/parts/convergence_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::cli {

using solvers::Iteration;

std::string convergence_plot(const std::vector<ConvergenceCurve>& curves, double tolerance) {
  constexpr int kColumns = 64;
  constexpr int kMostRows = 16;
  double top = -300, bottom = tolerance > 0 ? std::log10(tolerance) : 300;
  Offset products = 0;
  const auto decade_of = [](const Iteration& iteration) {
    return std::log10(std::max(iteration.residual, 1e-300));
  };
  for (const ConvergenceCurve& curve : curves) {
    for (const Iteration& iteration : curve.history) {
      if (!std::isfinite(iteration.residual)) continue;
      top = std::max(top, decade_of(iteration));
      bottom = std::min(bottom, decade_of(iteration));
      products = std::max(products, iteration.products);
    }
  }
  if (products == 0 || top <= -300) return "";
  top = std::max(std::ceil(top), 0.0);
  bottom = std::max(std::floor(bottom), top - 20);
  const int decades = static_cast<int>(top - bottom);
  const int rows = std::clamp(decades, 1, kMostRows);
  std::vector<std::string> field(static_cast<std::size_t>(rows) + 1, std::string(kColumns, ' '));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const char letter = static_cast<char>('a' + c % 26);
    for (const Iteration& iteration : curves[c].history) {
      if (!std::isfinite(iteration.residual)) continue;
      const double down = (top - std::max(decade_of(iteration), bottom)) / (top - bottom);
      const auto row = static_cast<std::size_t>(std::lround(down * rows));
      const auto column = static_cast<std::size_t>((iteration.products * (kColumns - 1)) /
                                                   std::max<Offset>(products, 1));
      field[row][column] = letter;
    }
  }
  std::string text;
  for (int row = 0; row <= rows; ++row) {
    const double decade = top - (top - bottom) * row / rows;
    text += fmt::format("  {:>6} |{}\n", fmt::format("1e{:.0f}", decade),
                        field[static_cast<std::size_t>(row)]);
  }
  text += fmt::format("         +{}\n          0{:>{}} products\n", std::string(kColumns, '-'),
                      products, kColumns - 1);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    text += fmt::format("  {}  {}\n", static_cast<char>('a' + c % 26), curves[c].name);
  }
  return text;
}

}  // namespace strata::cli
