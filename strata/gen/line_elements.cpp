#include "strata/gen/line_elements.hpp"

#include <algorithm>
#include <cmath>

namespace strata {

std::vector<double> line_nodes(int degree) {
  switch (degree) {
    case 1: return {-1, 1};
    case 2: return {-1, 0, 1};
    case 3: return {-1, -1 / std::sqrt(5.0), 1 / std::sqrt(5.0), 1};
    default: return {-1, -std::sqrt(3.0 / 7), 0, std::sqrt(3.0 / 7), 1};
  }
}

std::array<QuadraturePoint, kLinePoints> gauss_points() {
  const double spread = 2 * std::sqrt(10.0 / 7);
  const double inner = std::sqrt(5 - spread) / 3;
  const double outer = std::sqrt(5 + spread) / 3;
  const double inner_weight = (322 + 13 * std::sqrt(70.0)) / 900;
  const double outer_weight = (322 - 13 * std::sqrt(70.0)) / 900;
  return {{{-outer, outer_weight},
           {-inner, inner_weight},
           {0, 128.0 / 225},
           {inner, inner_weight},
           {outer, outer_weight}}};
}

LineBasis line_basis(const std::vector<double>& nodes, double position) {
  LineBasis result;
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    // By the product rule.
    double basis = 1;
    double slope = 0;
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      if (b == a) continue;
      const double scale = 1 / (nodes[a] - nodes[b]);
      slope = slope * ((position - nodes[b]) * scale) + basis * scale;
      basis *= (position - nodes[b]) * scale;
    }
    result.value[a] = basis;
    result.slope[a] = slope;
  }
  return result;
}

NodeReach reach_of(Offset node, Offset elements, Offset degree) {
  NodeReach reach;
  reach.last_element = node / degree;
  reach.first_element = node % degree == 0 ? reach.last_element - 1 : reach.last_element;
  reach.first_node = std::max<Offset>(reach.first_element * degree, 1);
  reach.last_node = std::min((reach.last_element + 1) * degree, elements * degree - 1);
  return reach;
}

}  // namespace strata
