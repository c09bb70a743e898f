// A function of one variable as bars, drawn with block characters.
#pragma once

#include <string>
#include <vector>

namespace strata::cli {

// `values`, none below 0, as columns of at most `height` cells; below them the axis with its ends
// and, where it is between them, 0.
std::string density_plot(const std::vector<double>& values, double low, double high, int height,
                         int indent);

}  // namespace strata::cli
